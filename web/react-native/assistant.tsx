/**
 * The assistant in an app of React Native: a provider, and the screen of a conversation, drawn with native views (NATIVE-1).
 *
 * ```tsx
 * const assistant = createNativeAssistant({ address, key }, native({ storage: AsyncStorage, fetch }));
 *
 * <AssistantProvider assistant={assistant} app={{ onScreen: (route, params) => navigation.navigate(route, params) }}>
 *   <AssistantScreen onClose={() => navigation.goBack()} />
 * </AssistantProvider>
 * ```
 */
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { ScrollView, View } from 'react-native';
import { MESSAGE_TEXT_MAX_CHARS } from '../../protocol/limits.ts';
import type { MessageReply } from '../../protocol/runtime/messages.ts';
import type { Assistant } from '../client/assistant.ts';
import type { AnswerBlock } from '../client/conversation/answer-blocks.ts';
import type { ConversationState } from '../client/conversation/state.ts';
import { isBusy, isLive, type TurnState } from '../client/conversation/turn.ts';
import { failureOf } from '../client/transport/failure.ts';
import { failureWords, filled } from '../sdk/blocks/words.ts';
import { blockAnswers } from '../sdk/thread/block-answers.ts';
import { BlockView } from './block.tsx';
import { type NativeApp, SceneContext, useAppearance, useAppState, useNewScene, useScene, useStore, useThread } from './hooks.ts';
import { Button, Field, PaletteProvider, Row, useColours, usePalette, Words } from './look.tsx';

export { createNativeAssistant, type NativeApp, type NativeOptions } from './hooks.ts';
export { type NativeFile, type NativeParts, native } from './platform.ts';

interface ProviderProps {
  readonly assistant: Assistant;
  /** Follows the app's: made once, or with `useMemo`. */
  readonly app?: NativeApp;
  /** Of times and numbers, as `createNativeAssistant` was told. */
  readonly locale?: string;
  readonly children?: ReactNode;
}

const NOTHING: NativeApp = {};

export function AssistantProvider({ assistant, app = NOTHING, locale = 'en', children }: ProviderProps) {
  const scene = useNewScene(assistant, app, locale);
  const configuration = useStore(assistant.app, (now) => now.configuration);
  useAppState(assistant);
  return (
    <SceneContext.Provider value={scene}>
      <PaletteProvider value={usePalette(scene, configuration?.config)}>{children}</PaletteProvider>
    </SceneContext.Provider>
  );
}

interface BlocksProps {
  readonly blocks: readonly AnswerBlock[];
  readonly state: ConversationState;
}

function Blocks({ blocks, state }: BlocksProps) {
  const answers = useMemo(() => blockAnswers(state.turns), [state.turns]);
  return blocks.map((block) => {
    const invocation = block.phase === 'ready' ? block.block.body.invocation_id : undefined;
    const call = state.calls.find(({ invocation_id: id }) => id === invocation);
    return <BlockView key={block.index} block={block} answer={answers.get(block.id)} call={call} />;
  });
}

function Said({ text }: { readonly text: string }) {
  const { surfaceSunk: backgroundColor } = useColours();
  return (
    <View style={{ alignSelf: 'flex-end', maxWidth: '84%', borderRadius: 16, paddingVertical: 8, paddingHorizontal: 14, backgroundColor }}>
      <Words>{text}</Words>
    </View>
  );
}

function questionOf({ payload: { message, form_submission: form } }: TurnState, formSent: string): string | undefined {
  return message?.text ?? (form === undefined ? undefined : formSent);
}

function Standing({ turn: { turnId, phase, failure, notice, ending, isReconnecting, requestId } }: { readonly turn: TurnState }) {
  const { assistant, words } = useScene();
  if (phase === 'waiting') return <Words is="muted">{words.waiting}</Words>;
  if (phase === 'failed' && failure !== undefined)
    return (
      <View accessibilityLiveRegion="assertive" style={{ gap: 8 }}>
        <Words is="bad">{failureWords(failure, words)}</Words>
        {failure.retryable ? <Button label={words.retry} onPress={() => assistant.conversation.retry(turnId)} /> : null}
        {requestId === undefined ? null : <Words is="muted">{[words.request, requestId].join(' ')}</Words>}
      </View>
    );
  const said = [
    isReconnecting ? words.reconnecting : undefined,
    notice?.message,
    ending?.stopped ? words.stopped : undefined,
    ending?.truncated ? words.truncated : undefined,
  ];
  return said.flatMap((text) =>
    text === undefined
      ? []
      : [
          <Words key={text} is="muted">
            {text}
          </Words>,
        ],
  );
}

function TurnView({ turn, state }: { readonly turn: TurnState; readonly state: ConversationState }) {
  const { words } = useScene();
  const question = questionOf(turn, words.formSent);
  return (
    <>
      {question === undefined || question === '' ? null : <Said text={question} />}
      <View style={{ gap: 10 }}>
        <Blocks blocks={turn.blocks} state={state} />
        {isBusy(turn) && turn.blocks.length === 0 ? <Words is="muted">{words.answering}</Words> : null}
        <Standing turn={turn} />
      </View>
    </>
  );
}

function MessageView({ message: { role, blocks }, state }: { readonly message: MessageReply; readonly state: ConversationState }) {
  if (role === 'user')
    return <Said text={blocks.map(({ body, fallback_text: text }) => (typeof body.md === 'string' ? body.md : (text ?? ''))).join('\n')} />;
  const ready = blocks.map(
    (block): AnswerBlock => ({ phase: 'ready', index: block.index, id: block.id, blockType: block.block_type, block }),
  );
  return (
    <View style={{ gap: 10 }}>
      <Blocks blocks={ready} state={state} />
    </View>
  );
}

function Welcome() {
  const { words, ask } = useScene();
  const { copilot } = useAppearance();
  return (
    <View style={{ gap: 10 }}>
      <Words is="title">{copilot.welcomeTitle ?? words.welcomeTitle}</Words>
      {copilot.welcomeBody === undefined ? null : <Words is="muted">{copilot.welcomeBody}</Words>}
      {copilot.suggestions.map((suggestion) => (
        <Button key={suggestion} label={suggestion} onPress={() => ask.say(suggestion)} />
      ))}
    </View>
  );
}

/** Less away from the end is at the end. */
const NEAR_END = 80;

/** The thread alone, for a screen of the app's own. */
export function AssistantThread() {
  const { words } = useScene();
  const { conversation, state, items, isBusy: isAnswering } = useThread();
  const box = useRef<{ scrollToEnd(options?: { readonly animated?: boolean }): void } | null>(null);
  const isAtEnd = useRef(true);
  return (
    <ScrollView
      ref={box}
      style={{ flex: 1 }}
      contentContainerStyle={{ gap: 14, padding: 16 }}
      keyboardShouldPersistTaps="handled"
      scrollEventThrottle={100}
      onScroll={({ nativeEvent: { contentOffset, contentSize, layoutMeasurement } }) => {
        isAtEnd.current = contentSize.height - contentOffset.y - layoutMeasurement.height < NEAR_END;
      }}
      // Whoever reads further up stays there.
      onContentSizeChange={() => isAtEnd.current && box.current?.scrollToEnd({ animated: false })}
    >
      {state.history.hasMore ? <Button label={words.earlier} onPress={() => conversation.readEarlier().catch(() => {})} /> : null}
      {items.length === 0 && state.history.phase !== 'reading' ? <Welcome /> : null}
      {items.map((item) =>
        item.kind === 'message' ? (
          <MessageView key={item.key} message={item.message} state={state} />
        ) : (
          <TurnView key={item.key} turn={item.turn} state={state} />
        ),
      )}
      <View accessibilityLiveRegion="polite">{isAnswering ? <Words is="muted">{words.answering}</Words> : null}</View>
    </ScrollView>
  );
}

/** A file that goes with the next message. */
interface Attached {
  readonly name: string;
  readonly uploadId: string;
}

/** Where a person writes. */
export function AssistantComposer() {
  const { assistant, app, words } = useScene();
  const { conversation, state } = useThread();
  const [text, setText] = useState('');
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const [problem, setProblem] = useState('');
  const running = state.turns.find(isLive);
  const over = text.length - MESSAGE_TEXT_MAX_CHARS;
  const isEmpty = text.trim() === '' && files.length === 0;
  const send = () => {
    try {
      conversation.say(text.trim(), { uploadIds: files.map(({ uploadId }) => uploadId) });
      setText('');
      setFiles([]);
      setProblem('');
    } catch (error) {
      setProblem(failureWords(failureOf(error), words));
    }
  };
  const attach = async () => {
    const file = await app.pickFile?.();
    if (file === undefined) return;
    try {
      const { upload_id: uploadId } = await assistant.upload(file, file.name);
      setFiles((before) => [...before, { name: file.name, uploadId }]);
    } catch (error) {
      setProblem(filled(words.uploadFailed, { name: file.name, reason: failureWords(failureOf(error), words) }));
    }
  };
  return (
    <View style={{ padding: 12, gap: 8 }}>
      {problem === '' && over <= 0 ? null : <Words is="bad">{over > 0 ? filled(words.tooLong, { count: over }) : problem}</Words>}
      {files.map(({ name, uploadId }) => (
        <Button
          key={uploadId}
          label={`${name} ✕`}
          onPress={() => setFiles((before) => before.filter((each) => each.uploadId !== uploadId))}
        />
      ))}
      <View style={{ flexDirection: 'row', alignItems: 'flex-end', gap: 8 }}>
        {app.pickFile === undefined ? null : <Button label="+" onPress={() => void attach().catch(() => setProblem(words.failed))} />}
        <Field label={words.composer} value={text} onText={setText} isLong isBare />
        {running === undefined || !isEmpty ? (
          <Button label={words.send} style="primary" isOff={isEmpty || over > 0} onPress={send} />
        ) : (
          <Button
            label={running.isStopping ? words.stopping : words.stop}
            isOff={running.isStopping}
            onPress={() => conversation.stop(running.turnId)}
          />
        )}
      </View>
    </View>
  );
}

/** All of it: a head, the thread, and where a person writes. Put it into what keeps clear of notches and of the keyboard. */
export function AssistantScreen({ onClose }: { readonly onClose?: () => void }) {
  const { assistant, words } = useScene();
  const { copilot } = useAppearance();
  const { surface: backgroundColor } = useColours();
  const { availability, needsSignIn } = useStore(assistant.app, (now) => now);
  if (availability === 'off' || needsSignIn) return null;
  return (
    <View style={{ flex: 1, backgroundColor }}>
      <View style={{ padding: 12 }}>
        <Row>
          <View style={{ flex: 1 }}>
            <Words is="title">{copilot.assistantName ?? words.assistant}</Words>
          </View>
          <Button label={words.newConversation} onPress={() => assistant.open()} />
          {onClose === undefined ? null : <Button label={words.close} onPress={onClose} />}
        </Row>
        {availability === 'unavailable' ? <Words is="muted">{words.away}</Words> : null}
      </View>
      <AssistantThread />
      <AssistantComposer />
    </View>
  );
}
