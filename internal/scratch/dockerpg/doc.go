// Package dockerpg starts throwaway servers in containers. In comes a
// scratch.Spec, out comes a running scratch.Server.
//
// It talks to the engine by its command, docker or podman, not by a client
// library: the command knows contexts, remote and rootless engines, credentials
// of registries and whatever else the user set up, and costs no dependency.
//
// The image is one of the official family, or one given. What is needed of it
// is little: its entry point makes a cluster from POSTGRES_USER,
// POSTGRES_PASSWORD, POSTGRES_DB and POSTGRES_INITDB_ARGS and becomes the server,
// on port 5432, with the arguments it is given; and there is a /bin/sh.
//
// # Nothing is left over
//
// The command "run" stays with us as long as the server lives, and the container's
// standard input is a pipe from us through it. In the container a few lines of
// shell start the image's entry point and wait for the end of that input. It ends
// by Stop, with our process however that ends, with the command, or with the
// connection to the engine; then they kill the server, and the container, which
// was run with --rm, is removed together with its volume. So nobody has to come by
// later to clean up after a killed process. What a kill can leave between making
// and starting a container never ran, and goes with the next Start an hour later.
package dockerpg
