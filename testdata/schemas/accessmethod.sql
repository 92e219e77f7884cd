CREATE ACCESS METHOD gist2 TYPE INDEX HANDLER gisthandler;
--:since 12
CREATE ACCESS METHOD "Heap 2" TYPE TABLE HANDLER heap_tableam_handler;
--:end
CREATE FUNCTION bt_handler(internal) RETURNS index_am_handler LANGUAGE internal STRICT AS 'bthandler';
CREATE ACCESS METHOD btree2 TYPE INDEX HANDLER bt_handler;
COMMENT ON ACCESS METHOD gist2 IS 'again';
CREATE OPERATOR CLASS box_ops2 DEFAULT FOR TYPE box USING gist2 AS
  OPERATOR 1 <<, OPERATOR 10 <<|, FUNCTION 1 gist_box_consistent(internal, box, smallint, oid, internal), FUNCTION 2 gist_box_union(internal, internal),
  FUNCTION 5 gist_box_penalty(internal, internal, internal), FUNCTION 6 gist_box_picksplit(internal, internal), FUNCTION 7 gist_box_same(box, box, internal);
CREATE TABLE boxes (b box, i integer);
--:since 12
CREATE TABLE other_boxes (b box) USING "Heap 2";
--:end
--:since 11
CREATE INDEX ON boxes USING gist2 (b);
--:end
