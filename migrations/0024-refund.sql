-- What was paid back of orders. client_id is who paid the order; until the order is known, who reported the refund.
-- asked_amount is in the minor unit of asked_currency; null: all that is left of the order.
-- cents is what counts: never more than what is left of the order, and 0 until the order is known.
create table refund (
  app_id integer not null,
  refund_id text collate "C" not null,
  trace_id text collate "C" not null,
  client_id text collate "C" not null,
  day date not null,
  at_ms bigint not null,
  received_at_ms bigint not null,
  asked_amount bigint,
  asked_currency text not null,
  asked_cents bigint,
  order_day date,
  order_at_ms bigint,
  cents bigint not null,
  primary key (app_id, refund_id)
);
create index refund_order on refund (app_id, trace_id);
create index refund_client on refund (app_id, client_id);
create index refund_day on refund (app_id, day) where cents > 0;
create index refund_order_day on refund (app_id, order_day) where cents > 0;

-- Whether a refund lowers revenue on the day of its order or on its own.
alter table app add column refunds_on text not null default 'order' check (refunds_on in ('order', 'refund'));

alter table cube add column refund_cents bigint;
alter table cube add column refund_count bigint;
