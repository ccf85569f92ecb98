// A pi extension: the second half of the stopwatch in probe.ts. Load it after the measured extensions.

export { stopStopwatch as default } from "./probe.ts";
