/** The page. */
export const PAGE = "<!doctype html><title>Simulated BUSY Bar</title>";
