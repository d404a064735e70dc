#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension TrustPolicy {
    private static var maximumFileSize: Int { 1 << 20 }

    /// Reads a policy from a JSON file, which `essentials pins --format json` creates.
    ///
    /// ```json
    /// {
    ///     "anchors": "system",
    ///     "minimumTLS": "1.2",
    ///     "unlistedHosts": "refused",
    ///     "hosts": [
    ///         {
    ///             "host": "**.example.com",
    ///             "pins": ["sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    ///                      {"certificate": "sha256/n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=", "scope": "issuer"}],
    ///             "expires": "2030-01-01", "onExpiry": "anchorsOnly"
    ///         }
    ///     ]
    /// }
    /// ```
    ///
    /// Every member is optional. Relative names of files are resolved against the directory of the policy file.
    /// <doc:PolicyFiles> describes every member.
    ///
    /// - Throws: `file` if a file cannot be read; `invalidPolicy`, whose message contains the line of the error.
    public init(contentsOfFile path: String) throws(RequestFailure) {
        let data = try SmallFile.read(path, upTo: Self.maximumFileSize, for: "a policy")
        guard let text = String(validating: data, as: UTF8.self) else {
            throw RequestFailure(.invalidPolicy, "“\(path)” is not UTF-8 text.", remedy: "Save it as UTF-8.")
        }
        try self.init(json: text, name: "“\(path)”", directory: URL(filePath: path).deletingLastPathComponent().path)
    }

    /// Reads a policy from JSON text, as ``init(contentsOfFile:)`` does from a file.
    ///
    /// - Parameters:
    ///   - json: The text.
    ///   - directory: The directory for relative file names.
    /// - Throws: `file` if a file cannot be read; `invalidPolicy`, whose message contains the line of the error.
    public init(json: String, directory: String = ".") throws(RequestFailure) {
        try self.init(json: json, name: "The policy", directory: directory)
    }

    private init(json: String, name: String, directory: String) throws(RequestFailure) {
        do throws(LocatedJSON.Fault) {
            self = try PolicyReader(directory: directory).policy(LocatedJSON(json))
        } catch {
            throw error.failure(.invalidPolicy, in: name)
        }
    }
}
