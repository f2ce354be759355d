/**
 * Adapts the chat's model to a conversation. The stable API has no system messages, so they become
 * text.
 */
import * as vscode from 'vscode';
import type {
  ContentPart,
  ConversationMessage,
  ConversationModel,
  ModelPart,
} from '../../core/minds/model.js';

/** The stable types lack this part of the API, which extensions may nevertheless read. */
interface ModelCapabilities {
  readonly capabilities?: {
    readonly supportsImageToText?: boolean;
    readonly supportsToolCalling?: boolean;
  };
}

const justification = 'To answer your question to @minds.';

export function chatModel(
  model: vscode.LanguageModelChat,
): ConversationModel & { readonly callsTools: boolean } {
  const { capabilities } = model as ModelCapabilities;
  const callsTools = capabilities?.supportsToolCalling !== false;
  const seesImages = capabilities?.supportsImageToText === true;
  return {
    vendor: model.vendor,
    name: model.name,
    callsTools,
    seesImages,
    maxInputTokens: model.maxInputTokens,
    countTokens: async (text) => await model.countTokens(text),
    send: async function* ({ instructions, messages, tools }, signal) {
      const source = new vscode.CancellationTokenSource();
      const cancel = (): void => source.cancel();
      if (signal.aborted) cancel();
      signal.addEventListener('abort', cancel, { once: true });
      try {
        const all = [
          vscode.LanguageModelChatMessage.User(instructions),
          ...messages.map((message) => asChatMessage(message, seesImages)),
        ];
        const offered = tools.map(({ name, description, inputSchema }) => ({
          name,
          description,
          inputSchema,
        }));
        const options = {
          justification,
          ...(callsTools && offered.length > 0 && { tools: offered }),
        };
        const response = await model.sendRequest(all, options, source.token);
        for await (const part of response.stream) yield* partOf(part);
      } finally {
        signal.removeEventListener('abort', cancel);
        source.dispose();
      }
    },
  };
}

function* partOf(part: unknown): Iterable<ModelPart> {
  if (part instanceof vscode.LanguageModelTextPart) yield { kind: 'text', text: part.value };
  if (part instanceof vscode.LanguageModelToolCallPart) {
    const { callId, name, input } = part;
    const given =
      typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
    yield {
      kind: 'call',
      call: {
        id: callId,
        tool: name,
        input: given,
      },
    };
  }
}

function asChatMessage(
  message: ConversationMessage,
  seesImages: boolean,
): vscode.LanguageModelChatMessage {
  const { User, Assistant } = vscode.LanguageModelChatMessage;
  switch (message.kind) {
    case 'user':
      return User(message.text);
    case 'answer':
      return Assistant([
        ...(message.text === '' ? [] : [new vscode.LanguageModelTextPart(message.text)]),
        ...message.calls.map(
          ({ id, tool, input }) => new vscode.LanguageModelToolCallPart(id, tool, input),
        ),
      ]);
    case 'results': {
      const partsOf = (parts: readonly ContentPart[]) =>
        parts.map((part) => asChatPart(part, seesImages));
      return User(
        message.results.map(
          ({ callId, parts }) => new vscode.LanguageModelToolResultPart(callId, partsOf(parts)),
        ),
      );
    }
  }
}

function asChatPart(part: ContentPart, seesImages: boolean): unknown {
  if (part.kind === 'text') return new vscode.LanguageModelTextPart(part.text);
  if (seesImages)
    return vscode.LanguageModelDataPart.image(Buffer.from(part.base64, 'base64'), part.mimeType);
  return new vscode.LanguageModelTextPart(
    `[An image (${part.mimeType}) that this model cannot see.]`,
  );
}
