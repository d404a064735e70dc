import EssentialsStorage
import EssentialsTools
import EssentialsTransport

/// The places where the system keeps its anchors.
struct SystemAnchors: Sendable, Equatable {
    var file: String?
    var directory: String?

    /// Directories with OpenSSL's hash links, of Debian, Fedora, Alpine and others, in the order in which they are
    /// tried.
    static let directories = ["/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/openssl/certs", "/usr/share/ssl/certs"]
    /// Bundles, which are tried after the directories.
    static let bundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// Finds the anchors. They are those of `SSL_CERT_FILE` and `SSL_CERT_DIR` if one is set, otherwise the first
    /// hashed directory, otherwise the first bundle. A hashed directory is preferred because only the anchors of a
    /// chain are read from it.
    ///
    /// - Throws: `invalidPolicy`, with the places that were tried, if there are no anchors.
    static func locate(
        environment: (String) -> String?, isReadable: (String) -> Bool,
        isHashed: (String) throws(RequestFailure) -> Bool
    ) throws(RequestFailure) -> SystemAnchors {
        let file = environment("SSL_CERT_FILE").flatMap { $0.isEmpty ? nil : $0 }
        let directory = environment("SSL_CERT_DIR").flatMap { $0.isEmpty ? nil : $0 }
        if file != nil || directory != nil {
            // OpenSSL takes several directories, and ignores those that do not exist.
            let directories = directory?.split(separator: ":").map(String.init) ?? []
            let unreadable = directories.contains(where: isReadable) ? [] : [directory].compactMap { $0 }
            for path in [file].compactMap({ $0 }).filter({ !isReadable($0) }) + unreadable {
                throw RequestFailure(
                    .file, "“\(path)”, named by SSL_CERT_FILE or SSL_CERT_DIR, could not be read.",
                    remedy: "Correct or remove the variable.")
            }
            // OpenSSL reads the places later, when the working directory may be another one.
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

    /// Finds the anchors of this machine. It reads the process's environment, unless the policy's anchors ignore it.
    static func locate(_ anchors: TrustAnchors) throws(RequestFailure) -> SystemAnchors {
        try locate(
            environment: { anchors.ignoresEnvironment ? nil : getenv($0).map { String(cString: $0) } },
            isReadable: { access($0, R_OK) == 0 },
            isHashed: isHashedDirectory)
    }

    /// Returns whether a directory holds a link such as `5ed36f99.0`, by which OpenSSL looks certificates up.
    ///
    /// - Throws: `resources` if the system has no descriptor or memory for it. A momentary shortage must not decide
    ///   which anchors a policy has.
    static func isHashedDirectory(_ path: String) throws(RequestFailure) -> Bool {
        do throws(FileError) {
            let hashed = try DirectoryNames.read(path, upTo: 1) { name in
                let name = Array(name.utf8)
                return name.count >= 10 && name[8] == UInt8(ascii: ".")
                    && name.prefix(8).allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
            }
            return !hashed.isEmpty
        } catch {
            guard [EMFILE, ENFILE, ENOMEM].contains(error.code) else { return false }
            throw Failures.noDescriptor("the anchors in \(path)", SystemError(error))
        }
    }
}
