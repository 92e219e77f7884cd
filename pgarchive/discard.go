package pgarchive

import (
	"errors"
	"fmt"
)

// Discard gives up the data written so far, so that Data may be called for the entry
// again, as after the source of the data has failed. The directory format can do that, and the custom format unless the data are
// on their way to an output that cannot seek; otherwise it
// returns [errors.ErrUnsupported], and the archive cannot be completed. The streams that Data returns
// have this method; ask for it by an interface.
func (w *entryWriter) Discard() error {
	d, ok := w.w.(interface{ discard() error })
	if !ok {
		return fmt.Errorf("discard data of entry %s: %w", w.e, errors.ErrUnsupported)
	}
	if w.done {
		return fmt.Errorf("discard data of entry %s: they are complete", w.e)
	}
	w.done = true
	if err := d.discard(); err != nil {
		err = fmt.Errorf("discard data of entry %s: %w", w.e, err)
		w.c.end(w.e, err)
		return err
	}
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	w.c.state[w.e.ID] = dataMissing
	w.c.streams--
	if w.c.open == w.e {
		w.c.open = nil
	}
	return nil
}

// discard ends the compressor and drops the file, if the folder can drop one.
func (c *compressedFile) discard() error {
	if _, ok := c.f.w.(interface{ Abort() error }); !ok {
		return errors.ErrUnsupported
	}
	c.z.Close() // what it writes is dropped
	c.f.abort()
	return nil
}
