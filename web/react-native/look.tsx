/** Colours and measures, and the few views that all others are made of. */
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { Image, Pressable, Text, TextInput, useColorScheme, View } from 'react-native';
import { isColour, type ThemeColour, type WidgetTheme } from '../sdk/appearance.ts';
import type { Scene } from './hooks.ts';

type Colours = Readonly<Record<Exclude<ThemeColour, 'surfaceHigh' | 'onDanger' | 'onSuccess'>, string>>;

const LIGHT: Colours = {
  ...{ surface: '#ffffff', surfaceRaised: '#ffffff', surfaceSunk: '#f3f3f5', onSurface: '#1b1b1f', onSurfaceMuted: '#5c5c66' },
  ...{ outline: '#d5d5dc', accent: '#3355cc', onAccent: '#ffffff', danger: '#b3261e', success: '#1b7a43' },
};
const DARK: Colours = {
  ...{ surface: '#16161a', surfaceRaised: '#1f1f25', surfaceSunk: '#24242b', onSurface: '#ececf1', onSurfaceMuted: '#a9a9b6' },
  ...{ outline: '#3b3b45', accent: '#9db2ff', onAccent: '#10183a', danger: '#ffb4ab', success: '#7fd6a0' },
};

const Palette = createContext<Colours>(LIGHT);
export const PaletteProvider = Palette.Provider;
export const useColours = () => useContext(Palette);

/** The published theme, and what the app wants over it, in the scheme of the device. */
export function usePalette({ app }: Scene, published: { readonly theme?: unknown; readonly themeDark?: unknown } | undefined): Colours {
  const isDark = useColorScheme() === 'dark';
  return useMemo(() => {
    const base = isDark ? DARK : LIGHT;
    const given = {
      ...(isDark ? {} : (published?.theme as WidgetTheme)),
      ...(isDark ? (published?.themeDark as WidgetTheme) : {}),
      ...app.theme,
    };
    const wanted: Readonly<Record<string, unknown>> = { ...given, ...(isDark ? app.themeDark : {}) };
    return Object.fromEntries(
      Object.entries(base).map(([name, colour]) => [name, isColour(wanted[name]) ? wanted[name] : colour]),
    ) as Colours;
  }, [isDark, published, app]);
}

const SIZE = 15;
/** Large enough for a thumb. */
export const TOUCH = 44;

interface WordsProps {
  readonly children: ReactNode;
  readonly is?: 'title' | 'muted' | 'bad' | 'good' | 'code' | 'link' | 'strong';
  readonly onPress?: () => void;
}

export function Words({ children, is, onPress }: WordsProps) {
  const colours = useColours();
  const colour =
    { muted: colours.onSurfaceMuted, bad: colours.danger, good: colours.success, link: colours.accent }[is as 'muted'] ?? colours.onSurface;
  const style = {
    ...{ color: colour, fontSize: is === 'muted' ? SIZE - 2 : SIZE, lineHeight: (is === 'muted' ? SIZE - 2 : SIZE) * 1.45 },
    ...(is === 'title' || is === 'strong' ? { fontWeight: '600' } : {}),
    ...(is === 'code' ? { fontFamily: 'monospace', fontSize: SIZE - 2 } : {}),
    ...(is === 'link' ? { textDecorationLine: 'underline' } : {}),
  };
  const role = is === 'title' ? { accessibilityRole: 'header' } : is === 'link' ? { accessibilityRole: 'link' } : {};
  return (
    <Text style={style} selectable {...role} {...(onPress === undefined ? {} : { onPress })}>
      {children}
    </Text>
  );
}

interface ButtonProps {
  readonly label: string;
  readonly onPress: () => void;
  readonly isOff?: boolean;
  readonly isChosen?: boolean | undefined;
  readonly style?: 'primary' | 'secondary' | 'danger' | undefined;
  readonly detail?: string | undefined;
  readonly role?: 'button' | 'link' | 'radio' | 'checkbox' | undefined;
}

export function Button({ label, onPress, isOff = false, isChosen, style = 'secondary', detail, role = 'button' }: ButtonProps) {
  const colours = useColours();
  const isFull = style !== 'secondary' || isChosen === true;
  const ground = style === 'danger' ? colours.danger : colours.accent;
  const box = {
    ...{ minHeight: TOUCH, justifyContent: 'center', paddingVertical: 8, paddingHorizontal: 14, borderRadius: 12, borderWidth: 1 },
    ...{ borderColor: isFull ? ground : colours.outline, backgroundColor: isFull ? ground : 'transparent', opacity: isOff ? 0.5 : 1 },
  };
  const state = { disabled: isOff, ...(isChosen === undefined ? {} : role === 'button' ? { selected: isChosen } : { checked: isChosen }) };
  const colour = { color: isFull ? (style === 'danger' ? colours.surface : colours.onAccent) : colours.onSurface };
  return (
    <Pressable
      onPress={onPress}
      disabled={isOff}
      style={box}
      accessibilityRole={role}
      accessibilityState={state}
      accessibilityLabel={label}
    >
      <Text style={{ ...colour, fontSize: SIZE, fontWeight: '500' }}>{label}</Text>
      {detail ? <Text style={{ ...colour, fontSize: SIZE - 2 }}>{detail}</Text> : null}
    </Pressable>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly isOff?: boolean;
  readonly isLong?: boolean;
  readonly keyboard?: 'default' | 'numeric' | 'email-address' | 'phone-pad';
  readonly problem?: string | undefined;
  /** Of the message's own field, whose place says what it is. */
  readonly isBare?: boolean;
}

export function Field({ label, value, onText, isOff = false, isLong = false, keyboard = 'default', problem, isBare = false }: FieldProps) {
  const colours = useColours();
  const box = {
    ...{ minHeight: TOUCH, borderWidth: 1, borderRadius: 12, paddingVertical: 9, paddingHorizontal: 12, flexGrow: 1, fontSize: 16 },
    ...{
      borderColor: problem === undefined ? colours.outline : colours.danger,
      color: colours.onSurface,
      backgroundColor: colours.surface,
    },
  };
  return (
    <View style={{ gap: 4, flexGrow: 1, flexShrink: 1 }}>
      {isBare ? null : <Words is="muted">{label}</Words>}
      <TextInput
        value={value}
        onChangeText={onText}
        editable={!isOff}
        multiline={isLong}
        keyboardType={keyboard}
        accessibilityLabel={label}
        style={box}
        placeholderTextColor={colours.onSurfaceMuted}
        {...(isBare ? { placeholder: label } : {})}
        {...(keyboard === 'email-address' ? { autoCapitalize: 'none' as const } : {})}
      />
      {problem === undefined ? null : <Words is="bad">{problem}</Words>}
    </View>
  );
}

export function Card({ children, type }: { readonly children: ReactNode; readonly type?: string }) {
  const colours = useColours();
  const box = {
    gap: 8,
    padding: 14,
    borderRadius: 14,
    borderWidth: 1,
    borderColor: colours.outline,
    backgroundColor: colours.surfaceRaised,
  };
  return (
    <View style={box} {...(type === undefined ? {} : { testID: type })}>
      {children}
    </View>
  );
}

export function Row({ children }: { readonly children: ReactNode }) {
  return <View style={{ flexDirection: 'row', flexWrap: 'wrap', gap: 8, alignItems: 'center' }}>{children}</View>;
}

export function Picture({ image: { url, alt } }: { readonly image: { readonly url: string; readonly alt: string } }) {
  return (
    <Image
      source={{ uri: url }}
      resizeMode="contain"
      accessibilityLabel={alt}
      style={{ width: '100%', aspectRatio: 16 / 9, borderRadius: 10 }}
    />
  );
}
