package driver

import (
	"slices"
	"strings"
)

// Listing gathers what a service lists, page by page and in any order.
type Listing struct{ all []Info }

// Object adds an object. One whose key ends in a slash, which some programs put in the place of a folder, is left out.
func (l *Listing) Object(i Info) {
	if !strings.HasSuffix(i.Key, "/") {
		l.all = append(l.all, i)
	}
}

// Folder adds a folder, a whole prefix ending in a slash.
func (l *Listing) Folder(prefix string) {
	l.all = append(l.all, Info{Key: prefix + "-"}) // stands for what is in it
}

// Page answers the request.
func (l *Listing) Page(r ListRequest) Page {
	slices.SortFunc(l.all, func(a, b Info) int { return strings.Compare(a.Key, b.Key) })
	return PageOf(l.all, r)
}

// ContentType is what a service is told of an object's content, which browsers go by.
func ContentType(key string) string {
	switch {
	case strings.HasSuffix(key, ".json"):
		return "application/json"
	case strings.HasSuffix(key, ".md"):
		return "text/markdown; charset=utf-8"
	}
	return "application/octet-stream"
}

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
