#if Persistence
    import EssentialsPersistence

    @testable import EssentialsSQLite

    /// Tables that change each other: by all actions of foreign keys, and by triggers.
    enum Library {
        static let models: [any PersistentModel.Type] = [
            Shelf.self, Book.self, Chapter.self, Loan.self, Sticker.self, Tally.self,
        ]
        static let nodes = [
            Shelf.all.node, Book.all.node, Chapter.all.node, Loan.all.node, Sticker.all.node, Tally.all.node,
        ]
        static let migration = Migration(
            "1 library",
            sql: """
                CREATE TABLE shelf(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL) STRICT;
                CREATE TABLE book(id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL,
                    shelf INTEGER REFERENCES shelf(id) ON DELETE SET NULL) STRICT;
                CREATE TABLE chapter(id INTEGER PRIMARY KEY NOT NULL,
                    book INTEGER NOT NULL REFERENCES book(id) ON DELETE CASCADE) STRICT;
                CREATE TABLE loan(id INTEGER PRIMARY KEY NOT NULL,
                    book INTEGER NOT NULL REFERENCES book(id) ON DELETE RESTRICT) STRICT;
                CREATE TABLE sticker(id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, name TEXT NOT NULL) STRICT;
                CREATE TABLE tally(id INTEGER PRIMARY KEY NOT NULL, count INTEGER NOT NULL) STRICT;
                CREATE TRIGGER book_added AFTER INSERT ON book BEGIN
                    INSERT INTO tally VALUES (1, 1) ON CONFLICT DO UPDATE SET count = count + 1;
                END;
                CREATE TRIGGER book_renamed AFTER UPDATE OF title ON book WHEN new.title IS NOT old.title BEGIN
                    INSERT INTO tally VALUES (2, 1) ON CONFLICT DO UPDATE SET count = count + 1;
                    UPDATE shelf SET name = new.title WHERE id = new.shelf;
                END;
                CREATE TRIGGER sticker_gone AFTER DELETE ON sticker BEGIN
                    DELETE FROM tally WHERE id = 2;
                END;
                """)
    }

    struct Shelf: PersistentModel, Hashable {
        var id: Int64
        var name: String

        static let table = "shelf"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Shelf, Int64>("id")
            let name = Column<Shelf, String>("name")
            var all: [ModelColumn<Shelf>] { [id.erased, name.erased] }
        }
    }

    struct Book: PersistentModel, Hashable {
        var id: Int64
        var title: String
        var shelf: Int64?

        static let table = "book"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Book, Int64>("id")
            let title = Column<Book, String>("title")
            let shelf = Column<Book, Int64?>("shelf")
            var all: [ModelColumn<Book>] { [id.erased, title.erased, shelf.erased] }
        }
    }

    struct Chapter: PersistentModel, Hashable {
        var id: Int64
        var book: Int64

        static let table = "chapter"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Chapter, Int64>("id")
            let book = Column<Chapter, Int64>("book")
            var all: [ModelColumn<Chapter>] { [id.erased, book.erased] }
        }
    }

    struct Loan: PersistentModel, Hashable {
        var id: Int64
        var book: Int64

        static let table = "loan"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Loan, Int64>("id")
            let book = Column<Loan, Int64>("book")
            var all: [ModelColumn<Loan>] { [id.erased, book.erased] }
        }
    }

    /// A row whose key ignores case.
    struct Sticker: PersistentModel, Hashable {
        var id: String
        var name: String

        static let table = "sticker"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Sticker, String>("id")
            let name = Column<Sticker, String>("name")
            var all: [ModelColumn<Sticker>] { [id.erased, name.erased] }
        }
    }

    /// A number that triggers change.
    struct Tally: PersistentModel, Hashable {
        var id: Int64
        var count: Int

        static let table = "tally"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Tally, Int64>("id")
            let count = Column<Tally, Int>("count")
            var all: [ModelColumn<Tally>] { [id.erased, count.erased] }
        }
    }
#endif
