extension HelpTopic {
    static let output = HelpTopic(
        "output", "What is printed where, and how to save a body.",
        """
        The body goes to standard output as it arrives. Everything else goes to standard error: errors, warnings,
        timings and the progress of a transfer. Progress is shown on a terminal only.

        Through a pipe and into a file, the bytes of the body are unchanged. On a terminal, JSON is indented and colored
        (--pretty and --color change that, and the variable NO_COLOR is respected), control characters are shown by their
        numbers, and a binary body is refused. “--output -” prints the bytes unchanged in any case.

        # SAVE A BODY

        --output writes the body to a file. The file appears or changes only if the body is complete and the status is
        expected, so a failed download never leaves half a file under its name.

          essentials get https://localhost:8443/file.zip --anchor ca.pem --output file.zip

        With --resume, a failed download keeps what it has received as NAME.part, and the next one continues there if
        the server's file is unchanged.

          essentials get https://localhost:8443/file.zip --anchor ca.pem --output file.zip --resume

        # MORE THAN THE BODY

        --include prints the status line and the header fields before the body. --timings prints when each phase ended
        and how long it took. --verbose shows on standard error what is sent and received, the TLS connection, its
        certificates and the pin that matched; values that look secret are hidden.

          essentials get https://localhost:8443/ --anchor ca.pem --include --timings
          essentials -v https://localhost:8443/ --anchor ca.pem

        # A DOCUMENT WITHOUT A NETWORK

        With --model-cache, “essentials get” stores the JSON document of a response in a directory, and --source says
        whether the cached document, that of the server, or both are printed. --include then prints a line with the
        source and the age before each one. This prints the cached document if the server cannot be reached:

          essentials get https://localhost:8443/ --anchor ca.pem --model-cache models --source backendElseCache

        # ERRORS

        An error is one line, “error: REASON: text”, or a JSON object with --error-format json:

          essentials get https://localhost:8443/ --anchor ca.pem --error-format json

        If the status is not in --expect, the body is printed and the command fails with the reason status.
        """)

    static let exitCodes = HelpTopic(
        "exit-codes", "The exit codes of all commands.",
        """
        0:: Success.
        1:: The request failed: no connection, no trust, an unexpected status, or a file that cannot be read or written.
        Standard error has a line “error: REASON: text”.
        64:: Wrong usage, or a value that was refused. Nothing was sent.
        69:: The tool was built without what the command needs. Standard error says how to build it.
        130:: Ctrl-C ended the command.
        141:: The program that read the output has ended, as “head” does.
        143:: The signal SIGTERM ended the command.

        “essentials reachability” also exits with 1 if the host is unreachable. “essentials bench” exits with 1 if a
        request failed or a status was not expected. “essentials outbox DIR drain” exits with 1 if an entry is left or
        was given up. “essentials store check” exits with 1 if it has found something. “essentials watch” exits with 0 after Ctrl-C and SIGTERM, which are its only end.

        A script can tell failures apart by the REASON, which is stable. See “essentials help reasons”.

          essentials get https://localhost:8443/ --anchor ca.pem > body || echo "failed with $?"
          essentials get https://localhost:8443/ --anchor ca.pem --expect 200,404 > body
        """)

    static let reasons = HelpTopic(
        "reasons", "The reasons of failures, such as pinMismatch.",
        """
        A failure is printed as “error: REASON: text”. These reasons are stable, so scripts may rely on them.
        “essentials help REASON” explains one of them.

        """ + FailureReasons.meanings.map { "\($0.name):: \($0.meaning)" }.joined(separator: "\n"))

    static let variables = HelpTopic(
        "variables", "The environment variables that the tool reads.",
        """
        Other users of a machine may see command lines, so pass secrets in variables instead. An option wins
        over its variable, and an empty variable counts as unset.

        ESSENTIALS_USER:: name:password for Basic authentication, like --user.
        ESSENTIALS_DIGEST:: name:password for Digest authentication, like --digest.
        ESSENTIALS_BEARER:: A token, like --bearer.
        ESSENTIALS_CLIENT_ID, ESSENTIALS_CLIENT_SECRET:: The client's identifier and secret for --oauth-token-url.
        ESSENTIALS_KEY_PASSPHRASE:: The passphrase of --client-key.
        ESSENTIALS_REDIS_USER:: The user of the Redis server of “redis check”: name:password.
        http_proxy, https_proxy, all_proxy, no_proxy:: The proxy, unless --proxy is given. “--proxy none” ignores them.
        SSL_CERT_FILE, SSL_CERT_DIR:: Replace the system's certificate authorities.
        NO_COLOR:: If set, JSON on a terminal is not colored.
        COLUMNS:: The width of text if standard output is not a terminal.

        Credentials are sent only to the URL's own origin, also after redirects.

          ESSENTIALS_BEARER=$(cat token) essentials get https://localhost:8443/me --anchor ca.pem
        """)

    static let completions = HelpTopic(
        "completions", "How to install shell completions and the manual page.",
        """
        The tool prints completion scripts for bash, zsh and fish, and its own manual page. Each command
        installs for the current user; open a new shell afterwards.

        # BASH

        The package bash-completion loads the file.

          mkdir -p ~/.local/share/bash-completion/completions
          essentials --generate-completion-script bash > ~/.local/share/bash-completion/completions/essentials

        Without that package, add this line to ~/.bashrc:

          source <(essentials --generate-completion-script bash)

        # ZSH

        The folder must be in fpath before compinit runs: “fpath=(~/.zsh/completions $fpath)” in ~/.zshrc.

          mkdir -p ~/.zsh/completions
          essentials --generate-completion-script zsh > ~/.zsh/completions/_essentials

        # FISH

          mkdir -p ~/.config/fish/completions
          essentials --generate-completion-script fish > ~/.config/fish/completions/essentials.fish

        # MANUAL PAGE

          mkdir -p ~/.local/share/man/man1
          essentials help --manual > ~/.local/share/man/man1/essentials.1

        Then “man essentials” shows it.
        """)
}
