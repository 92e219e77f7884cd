package pg

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// passfilePassword looks up a password in a password file: the first line host:port:database:user:password whose four
// fields are the given ones or "*" (passwordFromFile). A file that is missing is no error; one that others can read is
// not used, and warn is told so.
func passfilePassword(file, host, port, database, user string, warn func(string)) string {
	if file == "" || database == "" || user == "" {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return ""
	}
	if !st.Mode().IsRegular() {
		warn(fmt.Sprintf("WARNING: password file %q is not a plain file", file))
		return ""
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		warn(fmt.Sprintf("WARNING: password file %q has group or world access; permissions should be u=rw (0600) or less", file))
		return ""
	}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := strings.TrimRight(sc.Text(), "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		rest, ok := line, true
		for _, want := range []string{host, port, database, user} {
			if rest, ok = passfileField(rest, want); !ok {
				break
			}
		}
		if ok {
			return unescapePassword(rest)
		}
	}
	return ""
}

// passfileField compares the first field of a line with want and returns what comes after its colon.
func passfileField(line, want string) (rest string, ok bool) {
	if strings.HasPrefix(line, "*:") {
		return line[2:], true
	}
	j := 0
	for i := 0; i < len(line); i++ {
		escaped := false
		if line[i] == '\\' {
			if i++; i == len(line) {
				return "", false
			}
			escaped = true
		}
		if line[i] == ':' && !escaped && j == len(want) {
			return line[i+1:], true
		}
		if j == len(want) || line[i] != want[j] {
			return "", false
		}
		j++
	}
	return "", false
}

// unescapePassword reads the last field: up to a colon, backslashes taking the next byte as it is.
func unescapePassword(s string) string {
	var b []byte
	for i := 0; i < len(s) && s[i] != ':'; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b = append(b, s[i])
	}
	return string(b)
}
