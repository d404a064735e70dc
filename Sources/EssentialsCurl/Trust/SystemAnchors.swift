import EssentialsTransport
import Glibc

/// Where the system keeps its anchors.
struct SystemAnchors: Sendable, Equatable {
    var file: String?
    var directory: String?

    /// Directories with OpenSSL's hash links, in the order in which they are tried: Debian, Fedora, Alpine and others.
    static let directories = ["/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/openssl/certs", "/usr/share/ssl/certs"]
    /// Bundles, tried after the directories.
    static let bundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// Finds the anchors: `SSL_CERT_FILE` and `SSL_CERT_DIR` where one is set, else the first hashed directory, else the
    /// first bundle. A hashed directory comes first because only what a chain needs is read from it.
    ///
    /// - Throws: `invalidPolicy` with the places tried, when there are none.
    static func locate(
        environment: (String) -> String?, isReadable: (String) -> Bool,
        isHashed: (String) throws(RequestFailure) -> Bool
    ) throws(RequestFailure) -> SystemAnchors {
        let file = environment("SSL_CERT_FILE").flatMap { $0.isEmpty ? nil : $0 }
        let directory = environment("SSL_CERT_DIR").flatMap { $0.isEmpty ? nil : $0 }
        if file != nil || directory != nil {
            // OpenSSL takes several directories, and passes over those that are not there.
            let directories = directory?.split(separator: ":").map(String.init) ?? []
            let unreadable = directories.contains(where: isReadable) ? [] : [directory].compactMap { $0 }
            for path in [file].compactMap({ $0 }).filter({ !isReadable($0) }) + unreadable {
                throw RequestFailure(
                    .file, "“\(path)”, named by SSL_CERT_FILE or SSL_CERT_DIR, could not be read.",
                    remedy: "Correct or remove the variable.")
            }
            // Read later, from wherever the process is then.
            let path = try file.map { path throws(RequestFailure) in try AbsolutePath.of(path) }
            let absolute = try directories.map { path throws(RequestFailure) in try AbsolutePath.of(path) }
            return SystemAnchors(file: path, directory: absolute.isEmpty ? nil : absolute.joined(separator: ":"))
        }
        for directory in directories where try isHashed(directory) { return SystemAnchors(directory: directory) }
        if let found = bundles.first(where: isReadable) { return SystemAnchors(file: found) }
        throw RequestFailure(
            .invalidPolicy,
            "No system anchors were found in \((directories + bundles).joined(separator: ", ")).",
            remedy: "Install the package ca-certificates, set SSL_CERT_FILE, or name the anchors in the policy.")
    }

    /// Finds the anchors of this machine. Reads the process's environment, unless the policy's anchors ignore it.
    static func locate(_ anchors: TrustAnchors) throws(RequestFailure) -> SystemAnchors {
        try locate(
            environment: { anchors.ignoresEnvironment ? nil : getenv($0).map { String(cString: $0) } },
            isReadable: { access($0, R_OK) == 0 },
            isHashed: isHashedDirectory)
    }

    /// Whether a directory holds a link such as `5ed36f99.0`, by which OpenSSL looks certificates up.
    ///
    /// - Throws: `file` when the system has no descriptor or memory to look: what is lacking for a moment does not decide
    ///   which anchors a policy has.
    static func isHashedDirectory(_ path: String) throws(RequestFailure) -> Bool {
        guard let stream = opendir(path) else {
            let code = errno
            guard [EMFILE, ENFILE, ENOMEM].contains(code) else { return false }
            throw RequestFailure(
                .file, "The system's anchors in \(path) could not be looked for: \(String(cString: strerror(code))).",
                remedy: "Raise the limit of open files, or close some.")
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let hexadecimal = name.prefix(8).allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
            if name.count >= 10, name[8] == UInt8(ascii: "."), hexadecimal { return true }
        }
        return false
    }
}
