// Checks an audit with Go's own packages of signed notes and transparency logs. It reads a case as
// JSON from its input, and says `ok`.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type proof struct {
	Record string
	// As c2sp.org/tlog-proof@v1 writes it.
	Text string
}

type kept struct {
	Note        string
	Consistency []string
}

type audit struct {
	Vkey   string
	Note   string
	Proofs []proof
	Kept   []kept
}

func hashes(texts []string) []tlog.Hash {
	var all []tlog.Hash
	for _, text := range texts {
		bytes, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(bytes) != tlog.HashSize {
			log.Fatalf("no hash: %s", text)
		}
		var hash tlog.Hash
		copy(hash[:], bytes)
		all = append(all, hash)
	}
	return all
}

// The origin is ours, the tree is as Go writes it.
func open(text string, vkey string) tlog.Tree {
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		log.Fatal(err)
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		log.Fatal(err)
	}
	lines := strings.Split(opened.Text, "\n")
	if lines[0] != verifier.Name() || len(lines) != 4 {
		log.Fatalf("no checkpoint of %s", verifier.Name())
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return tlog.Tree{N: size, Hash: hashes(lines[2:3])[0]}
}

func main() {
	var given audit
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		log.Fatal(err)
	}
	tree := open(given.Note, given.Vkey)
	for _, each := range given.Proofs {
		parts := strings.SplitN(each.Text, "\n\n", 2)
		lines := strings.Split(parts[0], "\n")
		index, err := strconv.ParseInt(strings.TrimPrefix(lines[1], "index "), 10, 64)
		if err != nil || lines[0] != "c2sp.org/tlog-proof@v1" {
			log.Fatalf("no proof: %s", each.Text)
		}
		under := open(parts[1], given.Vkey)
		leaf := tlog.RecordHash([]byte(each.Record))
		if err := tlog.CheckRecord(hashes(lines[2:]), under.N, under.Hash, index, leaf); err != nil {
			log.Fatal(err)
		}
	}
	for _, each := range given.Kept {
		before := open(each.Note, given.Vkey)
		err := tlog.CheckTree(hashes(each.Consistency), tree.N, tree.Hash, before.N, before.Hash)
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("ok")
}
