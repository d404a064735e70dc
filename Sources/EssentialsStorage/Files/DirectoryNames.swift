import EssentialsTools

/// Lists directories. The calls can block, so they belong on a file thread.
package enum DirectoryNames {
    /// The names in a directory that fulfil a condition, up to a maximum, in no order.
    ///
    /// - Parameters:
    ///   - maximumEntries: The maximum number of names that are examined.
    ///   - followsLink: Whether the directory may be a symbolic link.
    package static func read(
        _ directory: String, upTo maximum: Int = .max, examining maximumEntries: Int = .max, followsLink: Bool = true,
        where belongs: (String) -> Bool = { _ in true }
    ) throws(FileError) -> [String] {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else { throw FileError.last }
        guard let entries = fdopendir(descriptor) else {
            let error = FileError.last
            close(descriptor)
            throw error
        }
        // The stream closes the descriptor.
        defer { closedir(entries) }
        var names: [String] = []
        var count = 0
        while names.count < maximum, count < maximumEntries {
            errno = 0
            guard let entry = readdir(entries) else {
                // Only a part of the names was read.
                guard errno == 0 else { throw FileError.last }
                break
            }
            count += 1
            // Read in place: an entry is only as long as its name, so copying the whole field would read past its end.
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != "..", belongs(name) { names.append(name) }
        }
        return names
    }
}
