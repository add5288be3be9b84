#!/usr/bin/env node
/** The same program for who starts it by this name. */
import { start } from './writ.cjs'

await start()
