/** The graph that is served: one node that asks the model, as in LangGraph's first example. */

import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';

const model = new ChatOpenAI({ model: process.env.MODEL, streaming: true, configuration: { baseURL: process.env.OPENAI_BASE_URL } });

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge(START, 'model')
  .addEdge('model', END)
  .compile();
