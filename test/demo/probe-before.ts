// A pi extension: the first half of the stopwatch in probe.ts, to be loaded before what is measured.

export { startStopwatch as default } from "./probe.ts";
