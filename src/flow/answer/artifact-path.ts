/** Where an artifact lies in the workspace (F-12), or null when its name would lead elsewhere. */

export function artifactPath(
  nodeId: string,
  attempt: number,
  { name, format }: { readonly name: string; readonly format: string },
): string | null {
  const path = `artifacts/${nodeId}/${attempt}/${name}.${format}`
  return path.length <= LENGTH_MAX && path.split('/').every(isPlainSegment) ? path : null
}

const LENGTH_MAX = 1024
const SEGMENT_BYTES_MAX = 200

function isPlainSegment(segment: string): boolean {
  if (segment === '' || segment === '.' || segment === '..' || segment === '.writ') return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names with control characters are refused
  return segment.length <= SEGMENT_BYTES_MAX && !/[\u0000-\u001f\u007f\\]/.test(segment)
}
