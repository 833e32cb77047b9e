-- Orders whose currency the app has no rate for: few or none, and asked for again and again.
create index orders_without_rate on orders (app_id, currency) where not has_rate
