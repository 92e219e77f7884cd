package catalog

import "context"

// Language is a row of pg_language with lanispl.
type Language struct {
	Meta
	Trusted                    bool
	Handler, Inline, Validator uint32 // pg_proc OIDs, 0 for none
}

func (r *reader) languagesStage() stage {
	return stage{"languages", r.fetchLanguages, func() error { addAll(r.db, r.languageRows); return nil }}
}

func (r *reader) fetchLanguages(ctx context.Context, q Querier) error {
	const sql = `
SELECT oid, lanname, 0, lanowner, lanacl, pg_catalog.acldefault('l', lanowner),
  lanpltrusted, lanplcallfoid, laninline, lanvalidator
FROM pg_catalog.pg_language WHERE lanispl ORDER BY oid`
	return query(ctx, q, sql, func(row *row) {
		l := &Language{Meta: r.objectMeta(row, KindProcLang, ClassLanguage)}
		l.objectACL(row)
		l.Trusted, l.Handler, l.Inline, l.Validator = row.bool(), row.oid(), row.oid(), row.oid()
		r.selectLanguage(&l.Meta)
		r.languageRows = append(r.languageRows, l)
	})
}
