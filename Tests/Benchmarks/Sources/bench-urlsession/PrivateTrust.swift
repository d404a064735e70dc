internal import Glibc

/// Makes this program trust one authority only.
///
/// FoundationNetworking has no way to name an authority on Linux: it always uses the bundle of the system. So the
/// program starts itself anew where that bundle is another file: in a mount namespace that no other program sees.
enum PrivateTrust {
    private static let bundle = "/etc/ssl/certs/ca-certificates.crt"
    private static let marker = "BENCHMARK_TRUST_IS_PRIVATE"

    /// Does not return when it first succeeds; returns at once in the program started anew.
    static func replaceBundle(with caFile: String) {
        if getenv(marker) != nil { return }
        setenv(marker, "1", 1)
        let namespace = geteuid() == 0 ? ["--mount"] : ["--mount", "--map-root-user"]
        let script = "mount --bind \"$1\" \(bundle) && shift && exec \"$@\""
        let command =
            ["unshare"] + namespace + ["--", "sh", "-c", script, "sh", caFile] + CommandLine.arguments
        var arguments = command.map { strdup($0) }
        arguments.append(nil)
        execvp("unshare", &arguments)
        perror("unshare")
        exit(2)
    }
}
