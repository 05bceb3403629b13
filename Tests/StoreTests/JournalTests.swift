import Device
import Encoding
import Testing

@testable import Store

@Suite struct `Journal` {
    @Test func `entries are numbered from 1 without gaps, rolled back ones included`() throws {
        let store = try store(with: "pixel")
        let pixel = try Make.id()
        let first = try store.write {
            try $0.appendJournal(at: Make.now, device: pixel, flow: "f", kind: "flow.started", body: [1])
        }
        struct Abandoned: Error {}
        #expect(throws: Abandoned.self) {
            try store.write { writer in
                _ = try writer.appendJournal(at: Make.now, device: nil, flow: nil, kind: "lost", body: [])
                throw Abandoned()
            }
        }
        let second = try store.write {
            try $0.appendJournal(at: Make.now, device: nil, flow: nil, kind: "noted", body: [])
        }
        #expect((first, second) == (1, 2))
        let entries = try store.read { try $0.journal(since: 0, limit: 9) }
        #expect(
            entries == [
                JournalEntry(sequence: 1, at: Make.now, device: pixel, flow: "f", kind: "flow.started", body: [1]),
                JournalEntry(sequence: 2, at: Make.now, device: nil, flow: nil, kind: "noted", body: []),
            ])
    }

    @Test func `a reader follows from where it left off, for everything or for one device`() throws {
        let store = try store(with: "a", "b")
        let (a, b) = (try Make.id("a"), try Make.id("b"))
        try store.write { writer in
            for number in 0..<20 {
                try writer.appendJournal(
                    at: Make.now, device: number.isMultiple(of: 2) ? a : b, flow: nil, kind: "k", body: [])
            }
        }
        #expect(try store.read { try $0.journal(since: 5, limit: 3) }.map(\.sequence) == [6, 7, 8])
        #expect(try store.read { try $0.journal(of: a, since: 5, limit: 3) }.map(\.sequence) == [7, 9, 11])
        #expect(try store.read { try $0.journal(since: 20, limit: 3) } == [])
        #expect(try store.read { try $0.journalEnd() } == 20)
    }

    @Test func `a flow's own entries are found among all`() throws {
        let store = try Store.inMemory()
        try store.write { writer in
            for number in 0..<12 {
                let flow = number.isMultiple(of: 3) ? nil : "flow-\(number % 3)"
                try writer.appendJournal(at: Make.now, device: nil, flow: flow, kind: "k", body: [])
            }
        }
        #expect(try store.read { try $0.journal(ofFlow: "flow-2") }.map(\.sequence) == [3, 6, 9, 12])
        #expect(try store.read { try $0.journal(ofFlow: "flow-2", limit: 2) }.map(\.sequence) == [3, 6])
        #expect(try store.read { try $0.journal(ofFlow: "flow-0") } == [])
    }

    @Test func `trimming drops the oldest and counts them, and numbering goes on`() throws {
        let store = try Store.inMemory()
        try store.write { writer throws in
            for _ in 0..<20 {
                try writer.appendJournal(at: Make.now, device: nil, flow: nil, kind: "k", body: [])
            }
            #expect(try writer.journalDropped() == 0)
            try writer.trimJournal(to: 8)
            #expect(try writer.journalDropped() == 12)
            #expect(try writer.journal(since: 0, limit: 99).map(\.sequence) == Array(13...20))
            let next = try writer.appendJournal(at: Make.now, device: nil, flow: nil, kind: "k", body: [])
            #expect(next == 21)
        }
    }

    @Test func `appending alone keeps the journal within its bound`() throws {
        let store = try Store.inMemory()
        let most = StoreWriter.mostJournalEntries
        try store.write { writer throws in
            for _ in 0..<most + 3 * StoreWriter.journalSlack {
                try writer.appendJournal(at: Make.now, device: nil, flow: nil, kind: "k", body: [])
            }
            let kept = try writer.journalEnd() - writer.journalDropped()
            #expect(kept >= most && kept < most + StoreWriter.journalSlack)
        }
    }
}
