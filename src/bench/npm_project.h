// A small project as people have them: two libraries, TypeScript, a lock file. Its build checks types and runs once.
#pragma once

#include <array>
#include <utility>

namespace bj {

// Path and content.
inline constexpr std::array<std::pair<const char*, const char*>, 4> kNpmProject = {{
    {"package.json", R"json({"name": "small-project", "version": "1.0.0", "private": true, "type": "module",
 "scripts": {"build": "tsc -p . && node dist/main.js"},
 "dependencies": {"date-fns": "3.6.0", "zod": "3.23.8"},
 "devDependencies": {"typescript": "5.5.4", "@types/node": "20.14.10"}}
)json"},
    {"tsconfig.json",
     R"json({"compilerOptions": {"target": "ES2022", "module": "NodeNext", "moduleResolution": "NodeNext", "strict": true, "declaration": true, "outDir": "dist"}, "include": ["src"]}
)json"},
    {"src/main.ts", R"ts(import { format, addDays, differenceInCalendarDays } from "date-fns";
import { z } from "zod";
import { createHash } from "node:crypto";

const Task = z.object({ id: z.number().int(), title: z.string().min(1), due: z.date(), tags: z.array(z.string()).default([]) });
type Task = z.infer<typeof Task>;

export function plan(count: number, start: Date): Task[] {
  return Array.from({ length: count }, (_, id) => Task.parse({ id, title: `task ${id}`, due: addDays(start, id % 30) }));
}

export function digest(tasks: Task[], start: Date): string {
  const hash = createHash("sha256");
  for (const task of tasks) hash.update(`${task.id} ${format(task.due, "yyyy-MM-dd")} ${differenceInCalendarDays(task.due, start)}`);
  return hash.digest("hex");
}

const start = new Date(2026, 0, 1);
console.log(digest(plan(5000, start), start));
)ts"},
    {"package-lock.json", R"json({
 "name": "small-project",
 "version": "1.0.0",
 "lockfileVersion": 3,
 "requires": true,
 "packages": {
  "": {
   "name": "small-project",
   "version": "1.0.0",
   "dependencies": {
    "date-fns": "3.6.0",
    "zod": "3.23.8"
   },
   "devDependencies": {
    "@types/node": "20.14.10",
    "typescript": "5.5.4"
   }
  },
  "node_modules/@types/node": {
   "version": "20.14.10",
   "integrity": "sha512-MdiXf+nDuMvY0gJKxyfZ7/6UFsETO7mGKF54MVD/ekJS6HdFtpZFBgrh6Pseu64XTb2MLyFPlbW6hj8HYRQNOQ==",
   "dev": true,
   "license": "MIT",
   "dependencies": {
    "undici-types": "~5.26.4"
   }
  },
  "node_modules/date-fns": {
   "version": "3.6.0",
   "integrity": "sha512-fRHTG8g/Gif+kSh50gaGEdToemgfj74aRX3swtiouboip5JDLAyDE9F11nHMIcvOaXeOC6D7SpNhi7uFyB7Uww==",
   "license": "MIT"
  },
  "node_modules/typescript": {
   "version": "5.5.4",
   "integrity": "sha512-Mtq29sKDAEYP7aljRgtPOpTvOfbwRWlS6dPRzwjdE+C0R4brX/GUyhHSecbHMFLNBLcJIPt9nl9yG5TZ1weH+Q==",
   "dev": true,
   "license": "Apache-2.0",
   "bin": {
    "tsc": "bin/tsc",
    "tsserver": "bin/tsserver"
   },
   "engines": {
    "node": ">=14.17"
   }
  },
  "node_modules/undici-types": {
   "version": "5.26.5",
   "integrity": "sha512-JlCMO+ehdEIKqlFxk6IfVoAUVmgz7cU7zD/h9XZ0qzeosSHmUJVOzSQvvYSYWXkFXC+IfLKSIffhv0sVZup6pA==",
   "dev": true,
   "license": "MIT"
  },
  "node_modules/zod": {
   "version": "3.23.8",
   "integrity": "sha512-XBx9AXhXktjUqnepgTiE5flcKIYWi/rme0Eaj+5Y0lftuGBq+jyRu/md4WnuxqgP1ubdpNCsYEYPxrzVHD8d6g==",
   "license": "MIT"
  }
 }
}
)json"},
}};

}  // namespace bj
