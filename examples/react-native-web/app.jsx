/** A shop with a button that opens the assistant as a screen. On a phone storage is AsyncStorage, and fetch that of expo/fetch. */
import { AssistantProvider, AssistantScreen, createNativeAssistant, native } from '@assistant-service/react-native';
import { useAvailability } from '@assistant-service/react-native/hooks';
import { useState } from 'react';
import { AppRegistry, Pressable, Text, View } from 'react-native';

const storage = {
  getItem: async (name) => localStorage.getItem(name),
  setItem: async (name, value) => localStorage.setItem(name, value),
  removeItem: async (name) => localStorage.removeItem(name),
};
const assistant = createNativeAssistant(
  { address: process.env.ASSISTANT_ADDRESS, key: process.env.ASSISTANT_KEY },
  native({ storage, fetch: (...request) => fetch(...request) }),
);
const ORDERS = { 'A-1042': { status: 'shipped', city: 'Zwolle' } };
const params = { order_id: { type: 'string', required: true } };
assistant.registerAction({ name: 'get_order', description: 'Looks up an order.', params }, ({ order_id: id }) => ORDERS[id] ?? null);

function Shop({ onHelp }) {
  const isThere = useAvailability() === 'available';
  return (
    <View style={{ flex: 1, padding: 20, gap: 20 }}>
      <Text accessibilityRole="header">Shop</Text>
      {isThere ? (
        <Pressable accessibilityRole="button" onPress={onHelp}>
          <Text>Ask the assistant</Text>
        </Pressable>
      ) : null}
    </View>
  );
}

function App() {
  const [isOpen, setOpen] = useState(false);
  return (
    <AssistantProvider assistant={assistant}>
      {isOpen ? <AssistantScreen onClose={() => setOpen(false)} /> : <Shop onHelp={() => setOpen(true)} />}
    </AssistantProvider>
  );
}

AppRegistry.registerComponent('App', () => App);
AppRegistry.runApplication('App', { rootTag: document.querySelector('#root') });
