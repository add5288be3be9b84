/** Types of the plugin that compiles schemas when the program is built. */
import type { BuildOptions, Plugin } from 'esbuild'

export function structures(common: BuildOptions): Promise<Plugin>
