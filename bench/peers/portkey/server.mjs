/** Portkey's gateway as it is published; provider and address of the upstream come with each request. */
process.argv.push(`--port=${process.env.PORT}`, '--headless');
await import('@portkey-ai/gateway/build/start-server.js');
