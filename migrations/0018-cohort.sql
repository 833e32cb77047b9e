-- The days by which the cube counts a user are cohorts; a placement is where an ad is shown.
alter table cube rename column placement to cohort;

alter table dirty_day rename column placement to cohort;

alter table user_account rename column place_day to cohort_day;

alter index user_account_place_day rename to user_account_cohort_day
