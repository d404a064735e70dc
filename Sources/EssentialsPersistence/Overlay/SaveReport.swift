/// The effect of a save on the rows of a file.
///
/// ```swift
/// let report = try await edits.save(.store, resolving: .theirs)
/// if report.kept > 0 { log("\(report.kept) changes were dropped, because others had changed the rows.") }
/// ```
public struct SaveReport: Sendable, Hashable {
    /// The number of rows that the save has inserted. A row that others had deleted counts here when it is inserted
    /// again.
    public var inserted: Int
    /// The number of rows that the save has changed.
    public var updated: Int
    /// The number of rows that the save has deleted.
    public var deleted: Int
    /// The number of rows that others changed and that stay so, because the policy or the caller's closure dropped the
    /// scope's change, or because a trigger of the table ignored it with `RAISE(IGNORE)`.
    public var kept: Int
    /// The number of rows that the store changed or deleted by itself, through `ON DELETE` or triggers. Rows that the
    /// scope deleted too are not included.
    public var cascaded: Int

    /// The number of rows that changed in the file.
    public var written: Int { inserted + updated + deleted + cascaded }

    /// Creates a report. The default is a save that had nothing to do.
    public init(inserted: Int = 0, updated: Int = 0, deleted: Int = 0, kept: Int = 0, cascaded: Int = 0) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.kept = kept
        self.cascaded = cascaded
    }
}
