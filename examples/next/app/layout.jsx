import { Help } from './help.jsx';

export const metadata = { title: 'Shop' };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        {children}
        <Help />
      </body>
    </html>
  );
}
