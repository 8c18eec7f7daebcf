/**
 * Types of the Assistant Service's runtime interface (docs/runtime.md): bodies of requests, events of the stream, answers.
 * Made of GET /v1/schemas by `npm run types`; edit the schemas, not this file. Fields may be added: pass over what you do not know.
 */

export type StreamEvent =
  | TurnStartEvent
  | BlockStartEvent
  | BlockDeltaEvent
  | BlockReadyEvent
  | ActionExecuteEvent
  | NoticeEvent
  | TurnEndEvent
  | ErrorEvent
  | PingEvent;
export type Block = Block1 & Block2;
export type Block1 =
  | TextBlock
  | SectionBlock
  | KeyPointsBlock
  | QuickRepliesBlock
  | ChoiceBlock
  | TagsBlock
  | ActionsBlock
  | ScreensBlock
  | ConfirmCardBlock
  | OrderTrackerBlock
  | TimelineBlock
  | ChecklistBlock
  | ComparisonBlock
  | KeyValueBlock
  | InfoCardBlock
  | ItemListBlock
  | PlaceCardBlock
  | MapBlock
  | PassBlock
  | CodeBlock
  | ContactBlock
  | RatingBlock
  | DisclosureBlock
  | VariantPickerBlock
  | DatetimeSlotsBlock
  | FormBlock;
export type ChatRequest = ChatRequest1 & ChatRequest2;
export type ChatRequest1 =
  | {
      message: {
        [k: string]: unknown;
      };
      [k: string]: unknown;
    }
  | {
      form_submission: {
        [k: string]: unknown;
      };
      [k: string]: unknown;
    }
  | {
      tool_results: {
        [k: string]: unknown;
      };
      [k: string]: unknown;
    };

export interface AssistantRuntime {
  event?: StreamEvent;
  'Event.turn.start'?: TurnStartEvent;
  'Event.block.start'?: BlockStartEvent;
  'Event.block.delta'?: BlockDeltaEvent;
  'Event.block.ready'?: BlockReadyEvent;
  'Event.action.execute'?: ActionExecuteEvent;
  'Event.notice'?: NoticeEvent;
  'Event.turn.end'?: TurnEndEvent;
  'Event.error'?: ErrorEvent;
  'Event.ping'?: PingEvent;
  'Request.chat'?: ChatRequest;
  'Request.manifest'?: ManifestRequest;
  'Request.identify'?: IdentifyRequest;
  'Request.confirm'?: ConfirmRequest;
  'Request.edit'?: EditRequest;
  'Request.feedback'?: FeedbackRequest;
  'Request.rating'?: RatingRequest;
  'Request.pairing_claim'?: PairingClaimRequest;
  'Reply.config'?: ConfigReply;
  'Reply.manifest'?: ManifestReply;
  'Reply.messages'?: MessagesReply;
  'Reply.conversations'?: ConversationsReply;
  'Reply.stop'?: StopReply;
  'Reply.identify'?: IdentifyReply;
  'Reply.confirm'?: ConfirmReply;
  'Reply.edit'?: EditReply;
  'Reply.feedback'?: FeedbackReply;
  'Reply.rating'?: RatingReply;
  'Reply.upload'?: UploadReply;
  'Reply.pairing_claim'?: PairingClaimReply;
  'Reply.error'?: ErrorReply;
}
export interface TurnStartEvent {
  type: 'turn.start';
  v: 1;
  seq: number;
  conversation_id: string;
  message_id: string;
  model: string;
  request_id: string;
  receipts?: {
    invocation_id: string;
    receipt: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
export interface BlockStartEvent {
  type: 'block.start';
  v: 1;
  seq: number;
  index: number;
  id: string;
  block_type:
    | 'text'
    | 'section'
    | 'key_points'
    | 'quick_replies'
    | 'choice'
    | 'tags'
    | 'actions'
    | 'screens'
    | 'confirm_card'
    | 'order_tracker'
    | 'timeline'
    | 'checklist'
    | 'comparison'
    | 'key_value'
    | 'info_card'
    | 'item_list'
    | 'place_card'
    | 'map'
    | 'pass'
    | 'code'
    | 'contact'
    | 'rating'
    | 'disclosure'
    | 'variant_picker'
    | 'datetime_slots'
    | 'form';
  [k: string]: unknown;
}
export interface BlockDeltaEvent {
  type: 'block.delta';
  v: 1;
  seq: number;
  index: number;
  text_delta: string;
  [k: string]: unknown;
}
export interface BlockReadyEvent {
  type: 'block.ready';
  v: 1;
  seq: number;
  index: number;
  block: Block;
  [k: string]: unknown;
}
export interface TextBlock {
  block_type: 'text';
  body: {
    /**
     * Markdown.
     */
    md: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface SectionBlock {
  block_type: 'section';
  body: {
    title: string;
    /**
     * Markdown.
     */
    md: string;
    /**
     * Icon name, as truck.
     */
    icon?: string;
    collapsed?: boolean;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface KeyPointsBlock {
  block_type: 'key_points';
  body: {
    title?: string;
    points: {
      text: string;
      tone?: 'neutral' | 'info' | 'success' | 'warning' | 'danger';
      /**
       * Keys of passages used.
       */
      sources?: string[];
      [k: string]: unknown;
    }[];
    /**
     * Where the sources that have an address can be read.
     */
    links?: {
      source: string;
      /**
       * http(s)
       */
      url: string;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface QuickRepliesBlock {
  block_type: 'quick_replies';
  body: {
    replies: {
      id: string;
      label: string;
      [k: string]: unknown;
    }[];
    status: 'open' | 'answered' | 'superseded';
    selected_ids?: string[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ChoiceBlock {
  block_type: 'choice';
  body: {
    prompt: string;
    mode: 'single' | 'multi';
    options: {
      id: string;
      label: string;
      description?: string;
      image?: {
        /**
         * https
         */
        url: string;
        alt: string;
        [k: string]: unknown;
      };
      badge?: string;
      /**
       * Cannot be chosen.
       */
      disabled?: boolean;
      [k: string]: unknown;
    }[];
    /**
     * Fewest to pick.
     */
    min?: number;
    /**
     * Most to pick.
     */
    max?: number;
    /**
     * Allows own words.
     */
    other?: {
      label: string;
      [k: string]: unknown;
    };
    submit_label?: string;
    status: 'open' | 'answered' | 'superseded';
    selected_ids?: string[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface TagsBlock {
  block_type: 'tags';
  body: {
    label?: string;
    items: {
      id: string;
      label: string;
      tone?: 'neutral' | 'info' | 'success' | 'warning' | 'danger';
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ActionsBlock {
  block_type: 'actions';
  body: {
    buttons: {
      kind: 'send' | 'open_screen' | 'open_url' | 'copy' | 'call' | 'email';
      label: string;
      /**
       * send: the message. open_screen: a route. open_url: https. copy: the text. call, email: number, address alone.
       */
      target: string;
      style?: 'primary' | 'secondary' | 'danger';
      [k: string]: unknown;
    }[];
    layout?: 'row' | 'stack';
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ScreensBlock {
  block_type: 'screens';
  body: {
    items: {
      /**
       * Name of the screen.
       */
      route: string;
      title: string;
      description?: string;
      /**
       * By the names the screen declares.
       */
      params?: {
        [k: string]: string | number | boolean;
      };
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ConfirmCardBlock {
  block_type: 'confirm_card';
  body: {
    invocation_id: string;
    title: string;
    summary: string;
    risk: 'write' | 'destructive';
    fields: {
      param: string;
      label: string;
      display: string;
      value?: unknown;
      editable: boolean;
      type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object';
      enum?: (string | number | boolean)[];
      error?: string;
      [k: string]: unknown;
    }[];
    confirm_label: string;
    decline_label: string;
    type_to_confirm?: string;
    /**
     * time
     */
    expires_at: string;
    edit_state: 'idle' | 'pending' | 'rejected';
    status: 'pending' | 'confirmed' | 'declined' | 'expired';
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface OrderTrackerBlock {
  block_type: 'order_tracker';
  body: {
    order_id: string;
    status: 'placed' | 'confirmed' | 'preparing' | 'shipped' | 'out_for_delivery' | 'delivered' | 'delayed' | 'cancelled' | 'returned';
    steps: {
      label: string;
      state: 'done' | 'current' | 'pending' | 'failed';
      /**
       * time
       */
      at?: string;
      [k: string]: unknown;
    }[];
    eta?: {
      /**
       * time
       */
      from?: string;
      /**
       * time
       */
      until?: string;
      [k: string]: unknown;
    };
    carrier?: string;
    tracking_number?: string;
    /**
     * http(s)
     */
    tracking_url?: string;
    items?: {
      name: string;
      quantity: number;
      image?: {
        /**
         * https
         */
        url: string;
        alt: string;
        [k: string]: unknown;
      };
      price?: {
        amount: string;
        currency: string;
        [k: string]: unknown;
      };
      [k: string]: unknown;
    }[];
    actions?: {
      kind: 'send' | 'open_screen' | 'open_url' | 'copy' | 'call' | 'email';
      label: string;
      /**
       * send: the message. open_screen: a route. open_url: https. copy: the text. call, email: number, address alone.
       */
      target: string;
      style?: 'primary' | 'secondary' | 'danger';
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface TimelineBlock {
  block_type: 'timeline';
  body: {
    title?: string;
    events: {
      title: string;
      /**
       * time
       */
      at?: string;
      detail?: string;
      state: 'done' | 'current' | 'upcoming' | 'failed';
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ChecklistBlock {
  block_type: 'checklist';
  body: {
    title?: string;
    items: {
      id: string;
      label: string;
      done: boolean;
      detail?: string;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ComparisonBlock {
  block_type: 'comparison';
  body: {
    columns: {
      id: string;
      name: string;
      image?: {
        /**
         * https
         */
        url: string;
        alt: string;
        [k: string]: unknown;
      };
      badge?: string;
      [k: string]: unknown;
    }[];
    rows: {
      label: string;
      /**
       * One per column, in order.
       */
      values: (
        | string
        | boolean
        | {
            amount: string;
            currency: string;
            [k: string]: unknown;
          }
      )[];
      [k: string]: unknown;
    }[];
    /**
     * Of a column.
     */
    recommended_id?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface KeyValueBlock {
  block_type: 'key_value';
  body: {
    title?: string;
    rows: {
      label: string;
      value: string;
      tone?: 'neutral' | 'info' | 'success' | 'warning' | 'danger';
      copyable?: boolean;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface InfoCardBlock {
  block_type: 'info_card';
  body: {
    title: string;
    /**
     * Markdown.
     */
    md: string;
    tone: 'neutral' | 'info' | 'success' | 'warning' | 'danger';
    image?: {
      /**
       * https
       */
      url: string;
      alt: string;
      [k: string]: unknown;
    };
    actions?: {
      kind: 'send' | 'open_screen' | 'open_url' | 'copy' | 'call' | 'email';
      label: string;
      /**
       * send: the message. open_screen: a route. open_url: https. copy: the text. call, email: number, address alone.
       */
      target: string;
      style?: 'primary' | 'secondary' | 'danger';
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ItemListBlock {
  block_type: 'item_list';
  body: {
    title?: string;
    layout: 'list' | 'grid' | 'carousel';
    items: {
      id: string;
      title: string;
      subtitle?: string;
      image?: {
        /**
         * https
         */
        url: string;
        alt: string;
        [k: string]: unknown;
      };
      price?: {
        amount: string;
        currency: string;
        [k: string]: unknown;
      };
      badge?: string;
      tap?: {
        kind: 'send' | 'open_screen' | 'open_url' | 'copy' | 'call' | 'email';
        label: string;
        /**
         * send: the message. open_screen: a route. open_url: https. copy: the text. call, email: number, address alone.
         */
        target: string;
        style?: 'primary' | 'secondary' | 'danger';
        [k: string]: unknown;
      };
      [k: string]: unknown;
    }[];
    /**
     * When more than shown.
     */
    total?: number;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface PlaceCardBlock {
  block_type: 'place_card';
  body: {
    name: string;
    address: string;
    lat: number;
    lng: number;
    category?: string;
    /**
     * 0 to 5.
     */
    rating?: number;
    reviews?: number;
    /**
     * 1 cheap to 4 expensive.
     */
    price_level?: number;
    open_now?: boolean;
    hours?: string[];
    phone?: string;
    image?: {
      /**
       * https
       */
      url: string;
      alt: string;
      [k: string]: unknown;
    };
    actions?: {
      kind: 'send' | 'open_screen' | 'open_url' | 'copy' | 'call' | 'email';
      label: string;
      /**
       * send: the message. open_screen: a route. open_url: https. copy: the text. call, email: number, address alone.
       */
      target: string;
      style?: 'primary' | 'secondary' | 'danger';
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface MapBlock {
  block_type: 'map';
  body: {
    markers: {
      id: string;
      lat: number;
      lng: number;
      label: string;
      [k: string]: unknown;
    }[];
    /**
     * 1 world to 20 building.
     */
    zoom?: number;
    polyline?: string;
    alt: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface PassBlock {
  block_type: 'pass';
  body: {
    kind: 'boarding' | 'event' | 'coupon' | 'loyalty' | 'ticket';
    title: string;
    barcode?: {
      format: 'qr' | 'pdf417' | 'aztec' | 'code128';
      value: string;
      /**
       * Printed below.
       */
      alt: string;
      [k: string]: unknown;
    };
    fields?: {
      label: string;
      value: string;
      [k: string]: unknown;
    }[];
    /**
     * time
     */
    valid_from?: string;
    /**
     * time
     */
    valid_until?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface CodeBlock {
  block_type: 'code';
  body: {
    /**
     * As json; text when it has none.
     */
    language: string;
    code: string;
    filename?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ContactBlock {
  block_type: 'contact';
  body: {
    name: string;
    role?: string;
    channels: {
      kind: 'phone' | 'email' | 'chat' | 'url';
      /**
       * Number, address or name.
       */
      value: string;
      label?: string;
      [k: string]: unknown;
    }[];
    hours?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface RatingBlock {
  block_type: 'rating';
  body: {
    prompt: string;
    /**
     * The best score.
     */
    scale: 3 | 5 | 10;
    style: 'stars' | 'emoji' | 'number';
    comment?: boolean;
    status: 'open' | 'answered' | 'superseded';
    selected_ids?: string[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface DisclosureBlock {
  block_type: 'disclosure';
  body: {
    summary: string;
    /**
     * Markdown.
     */
    md: string;
    open?: boolean;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface VariantPickerBlock {
  block_type: 'variant_picker';
  body: {
    product_id: string;
    title: string;
    image?: {
      /**
       * https
       */
      url: string;
      alt: string;
      [k: string]: unknown;
    };
    /**
     * What varies. Option ids are unique over all.
     */
    axes: {
      id: string;
      label: string;
      display: 'chip' | 'swatch' | 'dropdown';
      options: {
        id: string;
        label: string;
        description?: string;
        image?: {
          /**
           * https
           */
          url: string;
          alt: string;
          [k: string]: unknown;
        };
        badge?: string;
        /**
         * Cannot be chosen.
         */
        disabled?: boolean;
        /**
         * As #1a2b3c.
         */
        hex?: string;
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    }[];
    /**
     * Combinations that exist.
     */
    variants: {
      id: string;
      /**
       * One option id of each axis.
       */
      option_ids: string[];
      price?: {
        amount: string;
        currency: string;
        [k: string]: unknown;
      };
      available: boolean;
      [k: string]: unknown;
    }[];
    quantity?: {
      min: number;
      max: number;
      [k: string]: unknown;
    };
    status: 'open' | 'answered' | 'superseded';
    selected_ids?: string[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface DatetimeSlotsBlock {
  block_type: 'datetime_slots';
  body: {
    prompt: string;
    /**
     * As Europe/Madrid.
     */
    timezone: string;
    /**
     * Minutes a slot lasts.
     */
    duration_min?: number;
    /**
     * At most 100 slots in all, ids unique over all.
     */
    days: {
      /**
       * As 2026-11-20.
       */
      date: string;
      slots: {
        id: string;
        /**
         * time
         */
        start: string;
        /**
         * time
         */
        end?: string;
        available: boolean;
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    }[];
    status: 'open' | 'answered' | 'superseded';
    selected_ids?: string[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface FormBlock {
  block_type: 'form';
  body: {
    title?: string;
    fields: {
      /**
       * Key of the value.
       */
      name: string;
      label: string;
      type: 'text' | 'long_text' | 'number' | 'boolean' | 'date' | 'email' | 'phone' | 'select' | 'multi_select';
      required?: boolean;
      /**
       * Least characters, value, date or options.
       */
      min?: number | string;
      /**
       * Most of the same.
       */
      max?: number | string;
      /**
       * For select and multi_select, required there.
       */
      options?: string[];
      /**
       * What was wrong before.
       */
      error?: string;
      [k: string]: unknown;
    }[];
    submit_label: string;
    form_id: string;
    status: 'open' | 'answered' | 'superseded';
    selected_ids?: string[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface Block2 {
  /**
   * Place in its message.
   */
  index: number;
  /**
   * Unique in the conversation; stays the same over revisions.
   */
  id: string;
  block_type: string;
  revision: number;
  body: {
    [k: string]: unknown;
  };
  /**
   * For a client that fails to draw the block; at most 600 characters before the person's own data is put back.
   */
  fallback_text?: string;
  a11y_label?: string;
  [k: string]: unknown;
}
export interface ActionExecuteEvent {
  type: 'action.execute';
  v: 1;
  seq: number;
  invocation_id: string;
  name: string;
  params: {
    [k: string]: unknown;
  };
  timeout_ms: number;
  [k: string]: unknown;
}
export interface NoticeEvent {
  type: 'notice';
  v: 1;
  seq: number;
  reason: 'user_limit' | 'spend_paused' | 'credit_exhausted' | 'daily_ceiling';
  message: string;
  resets_at?: string;
  [k: string]: unknown;
}
export interface TurnEndEvent {
  type: 'turn.end';
  v: 1;
  seq: number;
  status: 'completed' | 'awaiting_tool_results' | 'awaiting_confirmation' | 'error';
  pending?: {
    invocation_id: string;
    name: string;
    params: {
      [k: string]: unknown;
    };
    risk: 'read' | 'write' | 'destructive';
    timeout_ms: number;
    executor: 'client' | 'server';
    block_id?: string;
    [k: string]: unknown;
  }[];
  billable?: boolean;
  stopped?: boolean;
  truncated?: boolean;
  filtered?: boolean;
  user_token_refused?: boolean;
  usage?: {
    minute_left: number;
    day_left: number;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ErrorEvent {
  type: 'error';
  v: 1;
  seq: number;
  code: string;
  message: string;
  retryable: boolean;
  retry_after_s?: number;
  details?: {
    path: string;
    message: string;
    [k: string]: unknown;
  }[];
  block?: Block;
  [k: string]: unknown;
}
export interface PingEvent {
  type: 'ping';
  v: 1;
  seq: number;
  [k: string]: unknown;
}
export interface ChatRequest2 {
  conversation_id?: string | null;
  turn_id?: string | null;
  message?: {
    text: string;
    [k: string]: unknown;
  } | null;
  form_submission?: {
    form_id: string;
    values: {
      [k: string]: string | number | boolean | string[];
    };
    [k: string]: unknown;
  } | null;
  tool_results?:
    | {
        invocation_id: string;
        status: 'ok' | 'error' | 'declined' | 'timeout' | 'unavailable';
        /**
         * Any JSON that serializes to at most 16384 bytes.
         */
        result?: {
          [k: string]: unknown;
        };
        error?: string | null;
        confirmed?: boolean | null;
        revision?: number | null;
        [k: string]: unknown;
      }[]
    | null;
  selection?: {
    block_id: string;
    ids: string[];
    other_text?: string | null;
    [k: string]: unknown;
  } | null;
  attachments?:
    | {
        upload_id: string;
        [k: string]: unknown;
      }[]
    | null;
  user?: {
    id: string;
    hmac?: string | null;
    [k: string]: unknown;
  } | null;
  client: {
    protocol: 1;
    sdk: string;
    catalog_version: string;
    components: string[];
    manifest_hash?: string | null;
    locale?: string | null;
    time_zone?: string | null;
    capabilities?: string[] | null;
    action_kinds?: string[] | null;
    [k: string]: unknown;
  };
  context?:
    | (
        | {
            /**
             * Any JSON that serializes to at most 8192 bytes.
             */
            app_state?: {
              [k: string]: unknown;
            };
            current_screen?: {
              name: string;
              title?: string | null;
              params?: {
                [k: string]: string | number | boolean;
              } | null;
              [k: string]: unknown;
            } | null;
            open_forms?:
              | {
                  form_id: string;
                  values: {
                    [k: string]: string | number | boolean | string[];
                  };
                  [k: string]: unknown;
                }[]
              | null;
            [k: string]: unknown;
          }
        | {
            [k: string]: unknown;
          }
      )
    | null;
  [k: string]: unknown;
}
export interface ManifestRequest {
  manifest: {
    version: string;
    /**
     * Names are unique.
     */
    actions: {
      name: string;
      description: string;
      risk?: ('read' | 'write' | 'destructive') | null;
      params?: {
        [k: string]: {
          [k: string]: unknown;
        } & {
          type: 'string' | 'number' | 'boolean' | 'array';
          description?: string | null;
          required?: boolean | null;
          enum?: (string | number | boolean)[] | null;
          items?: ('string' | 'number' | 'boolean') | null;
          editable?: boolean | null;
          [k: string]: unknown;
        };
      } | null;
      confirm_template?:
        | (
            | string
            | {
                [k: string]: string;
              }
          )
        | null;
      confirm_labels?: {
        [k: string]: {
          confirm: string;
          cancel: string;
          [k: string]: unknown;
        };
      } | null;
      type_to_confirm?: string | null;
      timeoutMs?: number | null;
      [k: string]: unknown;
    }[];
    routes?:
      | {
          name: string;
          title: string;
          description?: string | null;
          params?: {
            [k: string]: {
              type: 'string' | 'number' | 'boolean' | 'array';
              description?: string | null;
              required?: boolean | null;
              enum?: (string | number | boolean)[] | null;
              items?: ('string' | 'number' | 'boolean') | null;
              [k: string]: unknown;
            };
          } | null;
          [k: string]: unknown;
        }[]
      | null;
    [k: string]: unknown;
  };
  sdk: string;
  [k: string]: unknown;
}
export interface IdentifyRequest {
  external_user_id: string;
  traits?: {
    [k: string]: unknown;
  } | null;
  user_hmac?: string | null;
  [k: string]: unknown;
}
export interface ConfirmRequest {
  decision: 'confirm' | 'decline';
  typed?: string | null;
  revision?: number | null;
  decision_id?: string | null;
  user?: {
    id: string;
    hmac?: string | null;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
export interface EditRequest {
  revision: number;
  params: {
    [k: string]: unknown;
  };
  user?: {
    id: string;
    hmac?: string | null;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
export interface FeedbackRequest {
  message_id: string;
  rating: 1 | -1;
  reason?: string | null;
  user?: {
    id: string;
    hmac?: string | null;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
export interface RatingRequest {
  message_id: string;
  block_id: string;
  value: number;
  comment?: string | null;
  user?: {
    id: string;
    hmac?: string | null;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
export interface PairingClaimRequest {
  code: string;
  [k: string]: unknown;
}
export interface ConfigReply {
  channel: 'published' | 'draft';
  version: number | null;
  updated_at: string | null;
  available: boolean;
  require_identity: boolean;
  config: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ManifestReply {
  manifest_hash: string;
  [k: string]: unknown;
}
export interface MessagesReply {
  conversation_id: string;
  messages: {
    id: string;
    role: 'user' | 'assistant';
    blocks: Block[];
    created_at: string;
    attachments?: {
      upload_id: string;
      name: string;
      media_type: string;
      size: number;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  }[];
  has_more: boolean;
  open: {
    turn?: {
      turn_id: string;
      message_id: string;
      status: 'running';
      [k: string]: unknown;
    };
    pending: {
      invocation_id: string;
      name: string;
      params: {
        [k: string]: unknown;
      };
      risk: 'read' | 'write' | 'destructive';
      timeout_ms: number;
      executor: 'client' | 'server';
      block_id?: string;
      status: 'dispatched' | 'pending' | 'confirmed';
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ConversationsReply {
  conversations: {
    conversation_id: string;
    title: string;
    created_at: string;
    updated_at: string;
    [k: string]: unknown;
  }[];
  has_more: boolean;
  [k: string]: unknown;
}
export interface StopReply {
  ok: true;
  stopped: boolean;
  [k: string]: unknown;
}
export interface IdentifyReply {
  end_user_id: string;
  verified: boolean;
  [k: string]: unknown;
}
export interface ConfirmReply {
  status: 'confirmed' | 'declined' | 'expired';
  already_answered?: true;
  yours?: boolean;
  receipt?: string;
  [k: string]: unknown;
}
export interface EditReply {
  status: 'pending';
  revision: number;
  block?: Block;
  [k: string]: unknown;
}
export interface FeedbackReply {
  ok: true;
  [k: string]: unknown;
}
export interface RatingReply {
  ok: true;
  [k: string]: unknown;
}
export interface UploadReply {
  upload_id: string;
  name: string;
  media_type: string;
  size: number;
  expires_at: string;
  [k: string]: unknown;
}
export interface PairingClaimReply {
  pairing_id: string;
  expires_at: string;
  [k: string]: unknown;
}
export interface ErrorReply {
  error: {
    code: string;
    message: string;
    details?: {
      path: string;
      message: string;
      [k: string]: unknown;
    }[];
    block?: Block;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
