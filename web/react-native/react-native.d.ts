/** What is used of React Native, so that it need not be installed to check the types. An app has its own. */
declare module 'react-native' {
  import type { ComponentType, ReactNode, RefObject } from 'react';

  type Style = Readonly<Record<string, unknown>> | false | undefined;

  interface Common {
    readonly style?: Style | readonly Style[];
    readonly testID?: string;
    readonly accessibilityRole?: string;
    readonly accessibilityLabel?: string | undefined;
    readonly accessibilityState?: Readonly<Record<string, boolean>>;
    readonly accessibilityLiveRegion?: 'polite' | 'assertive' | 'none';
    readonly children?: ReactNode;
  }

  interface Scrolled {
    scrollToEnd(options?: { readonly animated?: boolean }): void;
  }

  interface ScrollEvent {
    readonly nativeEvent: Readonly<
      Record<'contentOffset', { readonly y: number }> & Record<'contentSize' | 'layoutMeasurement', { readonly height: number }>
    >;
  }

  export const View: ComponentType<Common>;
  export const Text: ComponentType<Common & { readonly onPress?: () => void; readonly selectable?: boolean }>;
  export const Pressable: ComponentType<Common & { readonly onPress?: () => void; readonly disabled?: boolean }>;
  export const Image: ComponentType<Common & { readonly source: { readonly uri: string }; readonly resizeMode?: 'contain' | 'cover' }>;
  export const TextInput: ComponentType<
    Common & {
      readonly value: string;
      readonly onChangeText: (text: string) => void;
      readonly placeholder?: string;
      readonly placeholderTextColor?: string;
      readonly multiline?: boolean;
      readonly editable?: boolean;
      readonly maxLength?: number;
      readonly keyboardType?: 'default' | 'numeric' | 'email-address' | 'phone-pad';
      readonly autoCapitalize?: 'none' | 'sentences';
    }
  >;
  export const ScrollView: ComponentType<
    Common & {
      readonly ref?: RefObject<Scrolled | null>;
      readonly horizontal?: boolean;
      readonly onScroll?: (event: ScrollEvent) => void;
      readonly onContentSizeChange?: () => void;
      readonly scrollEventThrottle?: number;
      readonly contentContainerStyle?: Style;
      readonly keyboardShouldPersistTaps?: 'handled';
    }
  >;
  export const Linking: { openURL(address: string): Promise<unknown> };
  export const AppState: { addEventListener(type: 'change', listener: (state: string) => void): { remove(): void } };
  export function useColorScheme(): 'light' | 'dark' | 'unspecified' | null | undefined;
}
