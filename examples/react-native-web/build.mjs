/** Makes dist/ of the app: react-native is react-native-web here, as Expo does it for the web. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { build } from 'esbuild';

const { ASSISTANT_ADDRESS = '', ASSISTANT_KEY = '' } = process.env;

mkdirSync('dist', { recursive: true });
copyFileSync('index.html', 'dist/index.html');
await build({
  entryPoints: ['app.jsx'],
  outfile: 'dist/app.js',
  bundle: true,
  minify: true,
  jsx: 'automatic',
  alias: { 'react-native': 'react-native-web' },
  define: {
    'process.env.NODE_ENV': '"production"',
    'process.env.ASSISTANT_ADDRESS': JSON.stringify(ASSISTANT_ADDRESS),
    'process.env.ASSISTANT_KEY': JSON.stringify(ASSISTANT_KEY),
  },
});
