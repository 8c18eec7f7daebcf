/** What a newcomer may press first: together it is all that the assistant does in the shop. */

export const SUGGESTIONS = [
  'Compare the kettles',
  'Where is my order?',
  'How long does delivery take?',
  'Put the Large kettle in my cart',
  'Cancel order A-1042',
  'I want to return something',
  'Show the parcel on a map',
  'Open my cart',
] as const;
