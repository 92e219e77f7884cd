package restore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/pgarchive"
)

// CheckBinary refuses rows in COPY's binary form for a server of another major version than their own: only the text
// form of a value is the same in all. version is the target's server_version_num.
func (p *Plan) CheckBinary(version int) error {
	text := p.header.ServerVersion
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	major, err := strconv.Atoi(text[:end])
	if err == nil && major == version/10000 {
		return nil
	}
	for _, it := range p.Items {
		if it.Want&pgarchive.WantData != 0 && it.Entry.HasData && it.Entry.BinaryCopy() {
			return fmt.Errorf("restore entry %s: its rows have the binary form of PostgreSQL %s, and the server is version %d; dump with --copy-format=text to restore into another version",
				it.Entry, text, version/10000)
		}
	}
	return nil
}
