/**
 * What counts as data while a reviewer is open: endings and names that no common tool loads as code or
 * unpacks by itself, less the names of settings that tools read without being told. Default deny.
 */
import {
  LOADED_ANYWHERE,
  LOADED_AT_START,
  MANIFEST_PATTERNS,
  PACKAGE_DIRECTORIES,
} from './code-names.ts'

export const DATA_SUFFIXES: readonly string[] = [
  ...['txt', 'text', 'md', 'markdown', 'rst', 'adoc', 'tex', 'bib', 'log', 'diff', 'patch'],
  ...['json', 'jsonl', 'ndjson', 'geojson', 'csv', 'tsv', 'yaml', 'yml', 'xml', 'srt', 'vtt'],
  ...['html', 'htm', 'css', 'svg', 'png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'bmp', 'tif'],
  ...['tiff', 'ico', 'pdf', 'docx', 'xlsx', 'pptx', 'mp3', 'mp4', 'wav', 'ogg', 'webm'],
]

/** Files without an ending, in any case of letters. */
export const DATA_NAMES: readonly string[] = [
  ...['readme', 'license', 'licence', 'copying', 'copyright', 'notice', 'authors', 'contributors'],
  ...['contributing', 'changelog', 'changes', 'history', 'news', 'todo', 'install', 'version'],
  ...['notes', 'summary', 'report', 'thanks', 'abstract'],
]

/** Settings with the ending of data that tools read, and what they run by them. */
const SETTINGS: readonly string[] = [
  ...['composer.json', 'bower.json', 'biome.json*', 'nx.json', 'lerna.json', 'turbo.json'],
  ...['rush.json', 'angular.json', 'nodemon.json', 'tslint.json', 'cypress.json', 'project.json'],
  ...['vercel.json', 'renovate.json', 'global.json', 'wrangler.json', 'app.json', 'bsconfig.json'],
  ...['package.yaml', 'stack.yaml', 'pubspec.yaml', 'analysis_options.yaml', 'shard.yml'],
  ...['*compose*.yml', '*compose*.yaml', 'lefthook*.yml', 'lefthook*.yaml', 'mkdocs.yml'],
  ...['_config.yml', 'action.yml', 'action.yaml', 'buildspec.yml', 'cloudbuild.yaml', 'dvc.yaml'],
  ...['environment.yml', 'environment.yaml', 'Chart.yaml', 'kustomization.yaml', 'snapcraft.yaml'],
  ...['*pipelines.yml', 'serverless.yml', 'playbook.yml', 'codecov.yml', 'appveyor.yml'],
  ...['pom.xml', 'build.xml', 'ivy.xml', 'phpunit*.xml', 'psalm.xml', 'phpcs.xml', 'catalog.xml'],
  ...['CMakeLists.txt', 'constraints*.txt', 'meson_options.txt', 'conanfile.txt', 'vcpkg.json'],
  ...['CMakePresets.json', 'CMakeUserPresets.json', 'jasmine.json', 'moon.yml', 'wireit.json'],
  ...['test*.txt', 'test*.md', 'test*.rst', '*.tf.json', '*.tfvars.json', '*.pkr.json', 'testem.*'],
  ...['taskfile*.yml', 'taskfile*.yaml', 'cucumber.*', 'intern.json', 'nightwatch.json'],
  ...['package-scripts.yml', 'dart_test.yaml', 'stryker*.json'],
  ...['robot.yaml', 'cookiecutter.json', 'copier.yml', 'importmap.json', 'import_map.json'],
]

/** Globs below the workspace of what is no data although its ending is. */
export const LOADED_NAMES: readonly string[] = [
  ...LOADED_ANYWHERE,
  ...LOADED_AT_START,
  ...[...MANIFEST_PATTERNS, ...SETTINGS].map((name) => `**/${name}`),
  ...PACKAGE_DIRECTORIES.map((name) => `**/${name}/**`),
  ...['**/*.egg-info/**', '**/*.dist-info/**'],
]
