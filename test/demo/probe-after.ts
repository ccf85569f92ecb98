// A pi extension: the second half of the stopwatch in probe.ts, to be loaded after what is measured.

export { stopStopwatch as default } from "./probe.ts";
