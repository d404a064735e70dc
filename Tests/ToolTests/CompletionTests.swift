import Testing

extension ToolTests {
    @Suite("Tool: completions")
    struct CompletionTests {
        /// Command lines and the only completion of their last word.
        static let cases = [
            ("essentials reachab", "reachability"), ("essentials get --outp", "--output"),
            ("essentials pins --format js", "json"), ("essentials get --output uniq", "unique-file.txt"),
            ("essentials bench --polic", "--policy"), ("essentials bench --policy uniq", "unique-file.txt"),
            ("essentials help exit", "exit-codes"), ("essentials wat", "watch"), ("essentials watch --ever", "--every"),
            ("essentials watch --format js", "json"), ("essentials demo --res", "--resources"),
            ("essentials demo --pol", "--policies"), ("essentials outb", "outbox"),
            ("essentials get --source cacheT", "cacheThenBackend"), ("essentials outbox --format js", "json"),
            ("essentials stor", "store"), ("essentials store che", "check"),
            ("essentials store info uniq", "unique-file.txt"),
            ("essentials store --merm", "--mermaid"), ("essentials demo --pers", "--persistence"),
        ]

        private func folder() throws -> TemporaryDirectory {
            let directory = try TemporaryDirectory()
            _ = try directory.file("unique-file.txt", "")
            return directory
        }

        @Test("bash completes commands, options, values, files and topics", arguments: cases)
        func bash(line: String, completion: String) async throws {
            let result = try await Shell.run(
                """
                source <(essentials --generate-completion-script bash)
                complete -p essentials
                COMP_LINE='\(line)' COMP_POINT=\(line.count)
                COMP_WORDS=(\(line))
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                _essentials essentials "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
                printf '%s\\n' "${COMPREPLY[@]}"
                """, in: folder())
            #expect(result.lines == ["complete -o filenames -F _essentials essentials", completion])
        }

        @Test(
            "zsh completes commands, options, values, files and topics", .enabled(if: Shell.has("zsh"), "needs zsh"),
            arguments: cases)
        func zsh(line: String, completion: String) async throws {
            // A function instead of the tool prints the completed words.
            let result = try await Shell.run(
                """
                essentials --generate-completion-script zsh > completions
                zmodload zsh/zpty
                zpty shell zsh -f -i
                zpty -w shell 'PROMPT= RPROMPT=; autoload -Uz compinit; compinit -u -D; source ./completions'
                zpty -w shell 'essentials() { print -r -- "<""${argv[-1]}"">" }; print -r -- "rea""dy"'
                zpty -m -r shell output '*ready*'
                zpty -n -w shell $'\(line)\\t\\n'
                zpty -m -r shell output '*<*>*'
                print -r -- "<${${output##*<}%%>*}>"
                zpty -d shell
                """, with: "zsh -f", in: folder())
            #expect(result.lines == ["<\(completion)>"])
        }

        @Test(
            "fish completes commands, options, values, files and topics", .enabled(if: Shell.has("fish"), "needs fish"),
            arguments: cases)
        func fish(line: String, completion: String) async throws {
            let result = try await Shell.run(
                """
                essentials --generate-completion-script fish | source
                complete -C '\(line)'
                """, with: "fish", in: folder())
            // A tab and a description may follow.
            #expect(result.lines.map { $0.split(separator: "\t")[0] } == [completion[...]], "\(result.lines)")
        }

        @Test(
            "fish completes after an unknown option, a missing value and a name with a dot",
            .enabled(if: Shell.has("fish"), "needs fish"),
            arguments: [
                ("essentials get --nosuch x --outp", "--output"), ("essentials post --http1.1 a.b --outp", "--output"),
                ("essentials send a.b x=y --outp", "--output"), ("essentials bench -c --polic", "--policy"),
            ])
        func fishEnds(line: String, completion: String) async throws {
            try await fish(line: line, completion: completion)
        }

        @Test("The scripts are accepted by their shells", arguments: ["bash", "zsh", "fish"].filter(Shell.has))
        func syntax(shell: String) async throws {
            let result = try await Shell.run(
                "essentials --generate-completion-script \(shell) > script && \(shell) -n script", in: folder())
            #expect(result.code == 0, "\(result.lines)")
            #expect(result.lines.isEmpty)
        }

        @Test("An unknown shell is refused with the known ones")
        func unknownShell() async throws {
            let result = try await tool("--generate-completion-script", "tcsh")
            #expect(result.code == 64)
            #expect(result.errors.contains("zsh bash fish"), "\(result.errors)")
        }
    }
}
