internal import Glibc

/// Makes this program trust only one authority.
///
/// FoundationNetworking has no API for that on Linux: it always uses the system's bundle. So the program restarts
/// itself in a mount namespace of its own, in which that bundle is replaced by another file.
enum PrivateTrust {
    private static let bundle = "/etc/ssl/certs/ca-certificates.crt"
    private static let marker = "BENCHMARK_TRUST_IS_PRIVATE"

    /// Does not return at the first successful call. In the restarted program it returns at once.
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
