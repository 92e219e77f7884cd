CREATE SUBSCRIPTION sub1 CONNECTION 'host=nowhere dbname=''my db'' password=\''secret' PUBLICATION pub1, "Odd Pub" WITH (connect = false, slot_name = NONE);
--:since 15
CREATE SUBSCRIPTION "Odd Sub" CONNECTION 'dbname=x' PUBLICATION p WITH (connect = false, slot_name = 'slot_a', binary = true, streaming = on, synchronous_commit = 'local', two_phase = true, disable_on_error = true);
--:end
--:until 14
CREATE SUBSCRIPTION "Odd Sub" CONNECTION 'dbname=x' PUBLICATION p WITH (connect = false, slot_name = 'slot_a', synchronous_commit = 'local');
--:end
COMMENT ON SUBSCRIPTION sub1 IS 'from nowhere';
--:since 14
CREATE SUBSCRIPTION sub14 CONNECTION 'dbname=x' PUBLICATION p WITH (connect = false, slot_name = NONE, binary = true, streaming = true);
--:end
--:since 16
CREATE SUBSCRIPTION sub16 CONNECTION 'dbname=x' PUBLICATION p WITH (connect = false, slot_name = NONE, origin = none, streaming = parallel, password_required = false, run_as_owner = true);
--:end
--:since 17
CREATE SUBSCRIPTION sub17 CONNECTION 'dbname=x' PUBLICATION p WITH (connect = false, slot_name = 's17', failover = true);
--:end
