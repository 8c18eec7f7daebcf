/** The help text, and the error that ends a run before it starts with one line that says what to do. */

export class CannotRun extends Error {
  override readonly name = 'CannotRun';
}

export const HELP = `Load test for a deployment of the Assistant Service. docs/load-testing.md explains it.

  npm run loadtest -- --url http://127.0.0.1:8787 --key rd_pk_test_… --rate 1 --duration 20s

Whom it asks
  --url URL            the service, without /v1
  --key KEY            a publishable key; several are used in turns (repeat the option)
  --live               go on with a live key: live turns cost money and count as the app's own

How much (one of --rate and --clients)
  --rate N             visits that begin each second, whether or not the service keeps up (the default, 1)
  --arrivals even|poisson   how those are spread (even)
  --clients N          N clients instead; each begins its next visit when the last one is over
  --think TIME         … and waits as long in between (0)
  --ramp TIME          reaches its rate or its clients over this time, which no percentile counts (0)
  --duration TIME      how long visits begin after the ramp (30s). TIME is 500ms, 30s, 5m or 1h
  --drain TIME         how long the last ones may take (60s)
  --max-open N         visits that may be open at once (10000)

What it sends
  --mix LIST           what visits do, with weights (new=70,continue=30):
                         new         a message in a new conversation
                         continue    a message in a conversation of before
                         components  a message of a client that draws every component
                         read        a message that makes the model look something up; answers the call
                         confirm     a message that makes the model ask to change something; agrees to the card
                         reattach    a message whose connection is cut, and taken up again
                         history     reads a conversation of before
  --texts FILE         messages, one a line; "read: …" and the like give them to one kind of visit

What is good
  --slo LIST           the most a turn may take, in ms: first_event=200,first_delta=500,between_deltas=1000,turn=5000
  --goodput PERCENT    how many turns have to be whole, without error and within the SLO (99)
  --pause TIME         a stream that says nothing for longer, in the middle of its answer, is named (1s)

What it tells
  --json FILE          everything, for programs
  --html FILE          everything, for people: one file with its plots
  --help               this

It ends with 0 when all is well, 1 when the goodput is missed or a stream was wrong, 2 when it could not start,
130 when it was stopped with Ctrl-C (once: open streams may end; twice: at once).
`;
