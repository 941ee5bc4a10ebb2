// A virtual object that keeps a version and a text. Started by `cargo xtask bench serve` with a port.

import http2 from "node:http2";

// the SDK asks for it, and Node has it from version 22 on
Promise.withResolvers ??= function () {
  const made = {};
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};

const restate = await import("@restatedev/restate-sdk");

const register = restate.object({
  name: "Register",
  handlers: {
    write: async (context, { limit, value }) => {
      const version = (await context.get("version")) ?? 0;
      if (version >= limit) {
        throw new restate.TerminalError("the version is not below the limit", { errorCode: 409 });
      }
      context.set("version", version + 1);
      context.set("value", value);
      return { version: version + 1 };
    },
  },
});

const handler = restate.endpoint().bind(register).http2Handler();
http2.createServer(handler).listen(Number(process.argv[2]), "127.0.0.1");
