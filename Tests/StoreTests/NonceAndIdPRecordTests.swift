import Device
import Encoding
import Store
import Testing

@Suite struct `Nonces and IdP records` {
    @Test func `the newest nonce of each device, role and origin is kept apart`() throws {
        let store = try store(with: "a", "b")
        let (a, b) = (try Make.id("a"), try Make.id("b"))
        try store.write { writer throws in
            for role in NonceRole.allCases {
                for origin in ["https://one", "https://two"] {
                    try writer.setNonce("old", of: a, role: role, origin: origin, at: Make.now)
                    try writer.setNonce("\(role) \(origin)", of: a, role: role, origin: origin, at: Make.now)
                    #expect(try writer.nonce(of: a, role: role, origin: origin) == "\(role) \(origin)")
                    #expect(try writer.nonce(of: b, role: role, origin: origin) == nil)
                }
            }
        }
    }

    @Test func `a device forgets the origin it heard of longest ago, never the one it hears now`() throws {
        let store = try store(with: "pixel")
        let pixel = try Make.id()
        let most = StoreWriter.mostNoncesPerRole
        try store.write { writer throws in
            for number in 0..<most + 3 {
                // A device's clock may run backwards; the nonce that just came is kept all the same.
                try writer.setNonce(
                    "n", of: pixel, role: .resourceServer, origin: "https://\(number)",
                    at: Make.now.adding(seconds: number == most + 2 ? -1_000 : Int64(number)))
            }
            try writer.setNonce("n", of: pixel, role: .authorizationServer, origin: "https://0", at: Make.now)
            for (number, isKept) in [(0, false), (1, false), (2, false), (3, true), (most + 2, true)] {
                let nonce = try writer.nonce(of: pixel, role: .resourceServer, origin: "https://\(number)")
                #expect((nonce != nil) == isKept, "origin \(number)")
            }
            #expect(try writer.nonce(of: pixel, role: .authorizationServer, origin: "https://0") == "n")
        }
    }

    @Test func `a nonce of no device is refused`() throws {
        let store = try Store.inMemory()
        let nobody = try Make.id("nobody")
        #expect(throws: StoreError.missing(operation: "nonces.insert")) {
            try store.write {
                try $0.setNonce("n", of: nobody, role: .resourceServer, origin: "https://api", at: Make.now)
            }
        }
    }

    @Test func `IdP records are kept by provider, kind and key`() throws {
        let store = try Store.inMemory()
        try store.write { writer throws in
            for key in ["c", "a", "b", ""] {
                try writer.upsertIdPRecord(IdPRecord(kind: "user", key: key, value: [1]), of: "main")
                try writer.upsertIdPRecord(IdPRecord(kind: "device", key: key, value: [2]), of: "main")
                try writer.upsertIdPRecord(IdPRecord(kind: "user", key: key, value: [3]), of: "other")
            }
            try writer.upsertIdPRecord(IdPRecord(kind: "user", key: "b", value: []), of: "main")
            #expect(try writer.idpRecord("main", kind: "user", key: "b") == [])
            #expect(try writer.idpRecord("main", kind: "user", key: "x") == nil)
            #expect(try writer.idpRecords("main", kind: "user", limit: 3).map(\.key) == ["", "a", "b"])
            #expect(try writer.idpRecords("main", kind: "user", limit: 3, after: "b").map(\.key) == ["c"])
            #expect(try writer.idpRecords("main", kind: "user", limit: 9, after: "").map(\.key) == ["a", "b", "c"])

            var kinds: [String] = []
            try writer.forEachIdPRecord("main") { kinds.append($0.kind) }
            #expect(kinds == Array(repeating: "device", count: 4) + Array(repeating: "user", count: 4))

            #expect(try writer.deleteIdPRecord("main", kind: "user", key: "a"))
            #expect(try !writer.deleteIdPRecord("main", kind: "user", key: "a"))
            #expect(try writer.deleteIdPRecords("main") == 7)
            #expect(try writer.idpRecords("other", kind: "user", limit: 9).count == 4)
        }
    }
}
