// A program that starts a memoryd and ends, of itself or killed as its argument says.

import { embedded } from "@memoryd/client/embedded";

console.log((await embedded(":memory:")).url);
if (process.argv[2] === "killed") process.kill(process.pid, "SIGKILL");
