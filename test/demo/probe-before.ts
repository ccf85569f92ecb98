// A pi extension: the first half of the stopwatch in probe.ts. Load it before the measured extensions.

export { startStopwatch as default } from "./probe.ts";
