package driver

import "strings"

// PageOf answers a request from a list of objects, sorted by key, for drivers that have
// the whole list at hand.
func PageOf(all []Info, r ListRequest) Page {
	var p Page
	last := ""
	for _, o := range all {
		rest, ok := strings.CutPrefix(o.Key, r.Prefix)
		if !ok {
			continue
		}
		name := o.Key
		folder := false
		if r.Folders {
			if i := strings.IndexByte(rest, '/'); i >= 0 {
				name, folder = r.Prefix+rest[:i+1], true
			}
		}
		if name <= r.After || folder && name == last {
			continue
		}
		if r.Limit > 0 && len(p.Objects)+len(p.Folders) == r.Limit {
			p.Next = last
			return p
		}
		if folder {
			p.Folders = append(p.Folders, name)
		} else {
			p.Objects = append(p.Objects, o)
		}
		last = name
	}
	return p
}
