#if Persistence
    import EssentialsPersistence
    import Glibc

    /// The path from which all file names of a store are formed. It stays valid if the program changes its folder or
    /// links change.
    ///
    /// A link and its target are one store only if both lead to the same owner, the same log and the same backups. So
    /// links are followed before any of these names is formed.
    enum StorePath {
        /// The maximum number of links that are followed. Linux has the same limit.
        private static let maximumLinks = 40

        /// The path without links, `.` and `..`. The file may be one that is still to be created.
        ///
        /// - Throws: A failure with the reason `file` if the folder is missing or the path names a folder that is
        ///   missing, or `readOnly` if a folder cannot be searched.
        static func resolved(_ path: String) throws(PersistenceFailure) -> String {
            var current = path
            for _ in 0...maximumLinks {
                if let found = real(current) { return found }
                guard errno == ENOENT else { throw StoreFile.failure(errno, file: path, store: path) }
                // The file does not exist, or it is a link to a file that is still to be created.
                let (folder, name) = parts(of: current)
                guard let folder = real(folder) else { throw StoreFile.failure(errno, file: path, store: path) }
                guard !["", ".", ".."].contains(name) else {
                    throw PersistenceFailure(.file, "The path names a folder, and no file in it.", store: path)
                }
                let whole = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
                guard let target = target(ofLink: whole) else { return whole }
                current = target.hasPrefix("/") ? target : "\(folder)/\(target)"
            }
            throw StoreFile.failure(ELOOP, file: path, store: path)
        }

        /// The resolved path. If it cannot be resolved yet, it is made absolute, so that a later attempt uses the same
        /// file.
        static func located(_ path: String) -> String {
            if let resolved = try? resolved(path) { return resolved }
            guard !path.hasPrefix("/"), let folder = real(".") else { return path }
            return folder == "/" ? "/\(path)" : "\(folder)/\(path)"
        }

        /// The folder of a path, and the name in it.
        static func parts(of path: String) -> (folder: String, name: String) {
            guard let slash = path.lastIndex(of: "/") else { return (".", path) }
            let folder = slash == path.startIndex ? "/" : String(path[..<slash])
            return (folder, String(path[path.index(after: slash)...]))
        }

        /// The path of an existing file without links; `nil`, with an error number, if it does not exist.
        static func real(_ path: String) -> String? {
            guard let found = realpath(path, nil) else { return nil }
            defer { free(found) }
            return String(cString: found)
        }

        /// The target of a link; `nil` if the path is not a link.
        private static func target(ofLink path: String) -> String? {
            var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(path, &bytes, bytes.count)
            guard count > 0 else { return nil }
            return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
#endif
