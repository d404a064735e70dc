package import EssentialsStorage

extension SystemError {
    /// The error of a call on a file.
    package init(_ error: FileError) { self.init(code: error.code) }
}

extension RequestFailure {
    /// Creates a failure with the reason `file` from the path, the failed action, and the system's error.
    ///
    /// - Parameter missing: The remedy if the file or its directory does not exist, for paths that are not read.
    package static func file(
        _ path: String, _ what: String, _ error: FileError, missing: String? = nil, phase: Phase
    ) -> RequestFailure {
        let underlying = SystemError(error)
        let remedy = error.isMissing ? missing ?? underlying.remedy : underlying.remedy
        return RequestFailure(
            .file, "“\(shownPath(path))” \(what): \(error).", remedy: remedy, phase: phase, underlying: underlying)
    }

    /// Runs work on a file, and turns its error into a failure with the path and the failed action.
    package static func onFile<Value>(
        _ path: String, _ what: String, missing: String? = nil, phase: Phase,
        _ work: () throws(FileError) -> Value
    ) throws(RequestFailure) -> Value {
        do { return try work() } catch { throw file(path, what, error, missing: missing, phase: phase) }
    }
}

extension FileThreads {
    /// Ensures that there is at least one thread. Call it before work is enqueued on a `FileQueue`, which cannot fail.
    ///
    /// - Throws: `resources` if there is no thread and the system cannot start one.
    package func start() throws(RequestFailure) {
        do throws(FileError) {
            try ensureStarted()
        } catch {
            throw RequestFailure(
                .resources, "The system could not create a thread for file operations: \(error).",
                remedy: "Raise the thread limit.", underlying: SystemError(error))
        }
    }
}

extension AbsolutePath {
    /// Returns the path, prefixed with the current directory if it is relative. Symbolic links are not resolved.
    ///
    /// - Throws: `file` if the path is empty or contains a zero byte.
    package static func of(_ path: String) throws(RequestFailure) -> String {
        do throws(Fault) {
            return try resolving(path)
        } catch {
            throw .notAPath(path, error)
        }
    }
}

extension FilePlace {
    /// Parses the path of a file.
    ///
    /// - Throws: `file` if the path is empty, contains a zero byte, or does not end with the name of a file.
    package static func of(_ file: String) throws(RequestFailure) -> FilePlace {
        do throws(Fault) {
            return try FilePlace(file)
        } catch {
            guard case .path(let fault) = error else {
                throw RequestFailure(
                    .file, "“\(RequestFailure.shownPath(file))” is a directory.",
                    remedy: "Give the path of a file in the directory.")
            }
            throw .notAPath(file, fault)
        }
    }
}

extension FileDirectory {
    /// Describes the directory at a path.
    ///
    /// - Parameter calls: Replaced by tests to make them fail.
    /// - Throws: `file` if the path is empty or contains a zero byte.
    package init(_ path: String, calls: FileCalls = .system) throws(RequestFailure) {
        self.init(absolute: try AbsolutePath.of(path), calls: calls)
    }
}

extension RequestFailure {
    fileprivate static func notAPath(_ path: String, _ fault: AbsolutePath.Fault) -> RequestFailure {
        RequestFailure(
            .file,
            fault == .empty
                ? "The path is empty." : "The path “\(RequestFailure.shownPath(path))” contains a zero byte.",
            remedy: "Provide the path of a file.")
    }
}
