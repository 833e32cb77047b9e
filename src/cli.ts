#!/usr/bin/env node
import { runCommand } from "./cli/program.ts";

const exitCode = await runCommand(process.argv.slice(2));
// A command can succeed and still report a problem through its exit code.
if (exitCode !== 0) process.exitCode = exitCode;
