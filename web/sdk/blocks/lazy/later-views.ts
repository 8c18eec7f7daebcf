/** The drawings that are loaded together, when the first of them is shown, with the style that only they have. */
import laterBlocksCss from '../../look/later-blocks.css';
import type { BlockViews, LaterComponent } from '../block-view.ts';
import { Choice } from '../choice.tsx';
import { Comparison } from '../comparison.tsx';
import { ConfirmCard } from '../confirm-card.tsx';
import { Contact } from '../contact.tsx';
import { DatetimeSlots } from '../datetime-slots.tsx';
import { Form } from '../form.tsx';
import { ItemList } from '../item-list.tsx';
import { KeyPoints } from '../key-points.tsx';
import { MapView } from '../map.tsx';
import { OrderTracker } from '../order-tracker.tsx';
import { Pass } from '../pass.tsx';
import { PlaceCard } from '../place-card.tsx';
import { Actions, Section } from '../plain.tsx';
import { Checklist, Code, Disclosure, InfoCard, KeyValue, Screens, Tags, Timeline } from '../plain-later.tsx';
import { QuickReplies } from '../quick-replies.tsx';
import { Rating } from '../rating.tsx';
import { VariantPicker } from '../variant-picker.tsx';

export const LATER_CSS = laterBlocksCss;

export const LATER_VIEWS: Pick<BlockViews, LaterComponent> = {
  section: Section,
  key_points: KeyPoints,
  quick_replies: QuickReplies,
  choice: Choice,
  tags: Tags,
  actions: Actions,
  screens: Screens,
  confirm_card: ConfirmCard,
  order_tracker: OrderTracker,
  timeline: Timeline,
  checklist: Checklist,
  comparison: Comparison,
  key_value: KeyValue,
  info_card: InfoCard,
  item_list: ItemList,
  place_card: PlaceCard,
  map: MapView,
  pass: Pass,
  code: Code,
  contact: Contact,
  disclosure: Disclosure,
  rating: Rating,
  variant_picker: VariantPicker,
  datetime_slots: DatetimeSlots,
  form: Form,
};
