package dump

import "github.com/pghaul/pghaul/internal/catalog"

// Progress is told how a dump goes. The methods are called from several goroutines.
type Progress interface {
	// Planned is called once, when it is known what will be dumped.
	Planned(p *Plan)
	// Started says that the data of an item begin.
	Started(i *Item)
	// Copied counts rows and bytes of the item's data. They are counted again when the
	// item is tried again.
	Copied(i *Item, rows, bytes int64)
	// Finished says that the item's data are complete, or with an error that they
	// will be tried again.
	Finished(i *Item, err error)
	// Message is a message for the user, as pg_dump shows with --verbose, or a warning.
	Message(warning bool, text string)
}

// Warner is implemented by a Progress that shows more of a warning about the database than its text.
type Warner interface {
	Warning(w catalog.Warning)
}

// warn passes on what the reading of the catalogues has to say.
func (d *dumper) warn(warnings []catalog.Warning) {
	for _, w := range warnings {
		if p, ok := d.progress.(Warner); ok {
			p.Warning(w)
		} else {
			d.progress.Message(true, w.Text)
		}
	}
}

// NoProgress ignores everything.
type NoProgress struct{}

var _ Progress = NoProgress{}

// Planned does nothing.
func (NoProgress) Planned(*Plan) {}

// Started does nothing.
func (NoProgress) Started(*Item) {}

// Copied does nothing.
func (NoProgress) Copied(*Item, int64, int64) {}

// Finished does nothing.
func (NoProgress) Finished(*Item, error) {}

// Message does nothing.
func (NoProgress) Message(bool, string) {}
