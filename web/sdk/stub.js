// Takes calls before the script is there, and loads it without keeping the page waiting. {{…}} are filled in when it is built.
((page, { head }, own, script) => {
  // Twice in a page, as after a body was swapped: the first one goes on.
  if (page.Assistant) return;
  const q = [];
  const stub = { q };
  page.Assistant = stub;
  // As the script's own: what registers gives back what takes it away, and a promise settles as its.
  const later = (name, args) => new Promise((resolve, reject) => q.push([name, args, resolve, reject]));
  const told = (name, args) => void q.push([name, args]);
  const registered = (name, args) => {
    const takeAway = later(name, args);
    return () => void takeAway.then((take) => take());
  };
  const started = (name, args) => told(name, args) || stub;
  const take = (how, ...names) => {
    for (const name of names) stub[name] = (...args) => how(name, args);
  };
  take(started, 'init');
  take(told, 'update', 'open', 'close', 'ask', 'setUserToken', 'setTheme');
  take(later, 'identify', 'signOut', 'destroy');
  take(registered, 'registerAction', 'registerScreen', 'onEvent');
  const src = new URL('../{{version}}/assistant.js', own.src).href;
  if (!/^https?:[^?#]+\/sdk\/web\/[^/?#]+\/assistant\.js$/.test(src)) {
    throw new TypeError(`Assistant: the stub must be loaded from /sdk/web/ of the service: it came from ${own.src}`);
  }
  let trusted = src;
  try {
    trusted = page.trustedTypes.createPolicy('assistant-widget', { createScriptURL: () => src }).createScriptURL('');
  } catch {
    // A browser without Trusted Types, or a page that does not name the policy: where it demands them, it says so below.
  }
  script.src = trusted;
  script.integrity = '{{integrity}}';
  script.crossOrigin = 'anonymous';
  script.nonce = own.nonce;
  script.async = true;
  head.append(script);
  // Markup of the page such as `<img name="currentScript">` takes the place of the document's property, and has no say in where tokens go.
})(window, document, Reflect.get(Document.prototype, 'currentScript', document), document.createElement('script'));
