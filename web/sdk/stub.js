// Takes calls before the script is there, and loads it without keeping the page waiting. {{…}} are filled in when it is built.
((page, script) => {
  const calls = [];
  page.Assistant = page.Assistant || { q: calls };
  for (const name of ['init', 'open', 'close', 'ask', 'destroy', 'identify', 'signOut', 'setUserToken', 'registerAction', 'registerScreen', 'onEvent', 'setTheme'])
    page.Assistant[name] = page.Assistant[name] || ((...args) => void calls.push([name, args]));
  script.src = new URL('../{{version}}/assistant.js', document.currentScript.src);
  script.integrity = '{{integrity}}';
  script.crossOrigin = 'anonymous';
  script.async = true;
  document.head.append(script);
})(window, document.createElement('script'));
