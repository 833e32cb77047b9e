-- The platform's own code that a rule sends; the empty text for the usual one of its event type.
alter table postback_rule add column code text not null default '';
